//! What a run of which not everything is known may have done.

use super::Strictness;
use crate::effect::{Assumption, Effect, EffectKind, Outcome, Privilege, Scope, Target};

/// Whether `effect` stands for a run whose effects are not all known.
pub(super) fn is_opaque(effect: &Effect) -> bool {
    effect.kind.is_under("exec")
}

/// Whether the run is shown not to have changed anything.
pub(super) fn is_idle(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Refused | Outcome::DryRun | Outcome::NoEffect)
}

/// One effect that an opaque run may have had, and the assumptions that kept the set from being larger.
pub(super) fn effects(effect: &Effect, strictness: Strictness) -> impl Iterator<Item = Effect> + '_ {
    let bound = (strictness == Strictness::Assume).then_some(effect.bounded_by).flatten();
    let bounded = effect.privilege == Privilege::User && strictness == Strictness::Assume;
    let kinds = EffectKind::ALL.iter().copied().filter(move |kind| {
        let system = kind.is_under("sys") || kind.is_under("svc");
        is_possible_kind(*kind, bound) && !(bounded && system)
    });
    let places = scopes(effect, strictness, bound);
    kinds.flat_map(move |kind| {
        places.clone().into_iter().map(move |scope| Effect {
            kind,
            target: Target::Unknown,
            scope,
            environment: effect.environment.clone(),
            ..effect.clone()
        })
    })
}

fn is_possible_kind(kind: EffectKind, bound: Option<Assumption>) -> bool {
    let runs = kind.is_under("exec") || kind == EffectKind::AgentSpawn || kind == EffectKind::HumanHandoff;
    match bound {
        Some(Assumption::A1) => kind.is_under("fs") || kind == EffectKind::EnvRead,
        Some(Assumption::A2 | Assumption::A3) | None => {
            kind != EffectKind::None && !runs && !matches!(kind, EffectKind::AgentState)
        }
    }
}

fn scopes(effect: &Effect, strictness: Strictness, bound: Option<Assumption>) -> Vec<Scope> {
    if bound == Some(Assumption::A1) {
        return vec![Scope::Project, Scope::Temp];
    }
    let mut scopes = vec![
        Scope::Project,
        Scope::Temp,
        Scope::Home,
        Scope::Outside,
        Scope::Remote("?".to_owned()),
        Scope::Container("?".to_owned()),
        Scope::Database("?".to_owned()),
        Scope::Cloud("?".to_owned()),
    ];
    if effect.privilege == Privilege::Root || strictness == Strictness::Strict {
        scopes.push(Scope::System);
    }
    scopes
}

/// The assumptions that bound what the run `effect` may have done.
pub(super) fn rests_on(effect: &Effect, strictness: Strictness) -> Vec<Assumption> {
    if strictness == Strictness::Strict || !is_opaque(effect) {
        return Vec::new();
    }
    let mut assumptions: Vec<Assumption> = effect.bounded_by.into_iter().collect();
    if effect.privilege == Privilege::User && effect.bounded_by.is_none() {
        assumptions.push(Assumption::A2);
    }
    assumptions
}
