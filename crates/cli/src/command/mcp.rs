//! `strongroom mcp`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use strongroom::desk::{Custody, Desk, Places, Usual};
use strongroom::{Error, Result};
use strongroom_server::Evidence;
use strongroom_server::serve::{self, Token};

use crate::args::{Args, McpArgs};
use crate::exit::End;
use crate::{out, place};

/// The bytes of a token that is made here.
const TOKEN_BYTES: usize = 32;

pub(super) fn run(args: &Args, own: &McpArgs) -> Result<End> {
    let server = Evidence::new(Desk::new(places(args, own)?));
    let Some(address) = &own.http else {
        serve::stdio(server)?;
        return Ok(End::Done);
    };
    let (token, origin) = token(own.token_file.as_deref())?;
    let made = if origin == Origin::Made { Some(token.clone()) } else { None };
    serve::http(server, resolve(address)?, &Token::new(&token)?, &mut |address| {
        out::note(&format!("listening on http://{address}{}", serve::PATH));
        if let Some(token) = &made {
            out::note(&format!("token: {token}"));
        }
    })?;
    Ok(End::Done)
}

/// Where the server may look: the named files and folders, or the standard places and the archive.
fn places(args: &Args, own: &McpArgs) -> Result<Places> {
    let archive = place::archive_dir(args)?;
    let (secret, cloud) = (crate::secret::of(args)?, place::usual_cloud());
    if own.places.is_empty() {
        let here = std::env::current_dir()
            .map_err(|error| Error::unavailable("the current directory cannot be read").caused_by(error))?;
        let roots = place::standard_sessions().iter().map(|root| resolved(root)).collect::<Result<_>>()?;
        let (custody, usual) = (Custody::All, Usual::Project(here));
        return Ok(Places { archive, roots, custody, usual, secret, cloud });
    }
    let roots = own.places.iter().map(|root| resolved(root)).collect::<Result<_>>()?;
    Ok(Places { archive, roots, custody: Custody::BelowRoots, usual: Usual::Everything, secret, cloud })
}

/// A place by its absolute path; a link that was named is followed, those below it are not.
fn resolved(root: &Path) -> Result<PathBuf> {
    let failed = |error| strongroom::files::io_error(root, "read", error);
    let meta = std::fs::symlink_metadata(root).map_err(failed)?;
    if meta.is_symlink() { std::fs::canonicalize(root) } else { std::path::absolute(root) }.map_err(failed)
}

/// Where a token comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Given,
    Made,
}

/// The token of the file or of the environment, or a new one.
fn token(file: Option<&Path>) -> Result<(String, Origin)> {
    if let Some(file) = file {
        let text = std::fs::read_to_string(file)
            .map_err(|error| strongroom::files::io_error(file, "read", error))?;
        return Ok((text.trim().to_owned(), Origin::Given));
    }
    if let Some(token) = place::mcp_token() {
        return Ok((token, Origin::Given));
    }
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::unavailable("no random token can be made").caused_by(error))?;
    Ok((super::keys::hex(&bytes), Origin::Made))
}

/// `127.0.0.1:7000`, `localhost:7000`, `[::1]:7000` or a port alone.
fn resolve(text: &str) -> Result<SocketAddr> {
    let named = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    let own = named.parse::<u16>().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    own.or_else(|_| text.parse()).map_err(|error: std::net::AddrParseError| {
        Error::invalid_input(format!("{text:?} is no address such as 127.0.0.1:7000")).caused_by(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_the_usual_spellings() {
        for (text, address) in [
            ("7000", "127.0.0.1:7000"),
            (":7000", "127.0.0.1:7000"),
            ("localhost:7000", "127.0.0.1:7000"),
            ("127.0.0.1:0", "127.0.0.1:0"),
            ("[::1]:7000", "[::1]:7000"),
        ] {
            assert_eq!(resolve(text).unwrap().to_string(), address);
        }
        for text in ["", "example.org:80", "99999", "127.0.0.1"] {
            assert!(resolve(text).is_err(), "{text}");
        }
    }

    #[test]
    fn tokens_that_are_made_are_long_and_new() {
        let (one, origin) = token(None).unwrap();
        assert_eq!((one.len(), origin), (2 * TOKEN_BYTES, Origin::Made));
        assert_ne!(one, token(None).unwrap().0);
    }
}
