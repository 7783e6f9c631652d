// Runs where function hooks are turned on: CLAUDE_CODE_ENABLE_FUNCTION_HOOKS=1.

// Where Claude Code keeps the transcript of this session.
async function transcript($) {
  const home = (await $.env.get('CLAUDE_CONFIG_DIR')) || `${await $.env.get('HOME')}/.claude`
  const project = (await $.session.cwd()).replace(/[^A-Za-z0-9]/g, '-')
  return `${home}/projects/${project}/${await $.session.id()}.jsonl`
}

async function strongroom($, event, more) {
  const payload = { session_id: await $.session.id(), transcript_path: await transcript($), hook_event_name: event, ...more }
  try {
    const ran = await $.process.run(['strongroom', 'hook', event], { stdin: JSON.stringify(payload), timeoutMs: 15000 })
    return ran.stdout.trim() === '' ? {} : JSON.parse(ran.stdout)
  } catch (error) {
    return { systemMessage: `Strongroom: ${event} did not run: ${error}` }
  }
}

export function register(on) {
  on('session.compact', async ($, e, next) => {
    if (e.agentId !== undefined || e.trigger === 'precompute') return next(e)
    const before = await strongroom($, 'PreCompact', { trigger: e.trigger })
    if (before.systemMessage !== undefined) $.ui.toast(before.systemMessage)
    const done = await next(e)
    if (done.messages === undefined) return done
    const after = await strongroom($, 'SessionStart', { source: 'compact' })
    const card = after.hookSpecificOutput?.additionalContext
    if (card === undefined) return done
    return { ...done, messages: [...done.messages, { role: 'user', text: card, toolUses: [] }] }
  }).catch(($, e, next) => next(e))
}
