//! `strongroom claim`.

use strongroom::Result;

use super::ask::{Sessions, print};
use crate::args::{Args, ClaimArgs};
use crate::exit::End;
use crate::place;

pub(super) fn run(args: &Args, own: &ClaimArgs) -> Result<End> {
    let archive = place::open_for_reading(args)?;
    let sessions = Sessions { file: own.file.as_deref(), format: own.format.as_deref(), all: false };
    let asked = sessions.gather(archive.as_ref())?;
    let options = super::options(archive.as_ref(), super::strictness(own.strict));
    let answer = asked.claim(&own.sentence.join(" "), options)?;
    print(args, &answer, &asked, own.file.as_deref())
}
