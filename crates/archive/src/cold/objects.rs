//! The stores that `object_store` knows: a directory, S3 and what speaks like it, Google Cloud Storage, Azure.
//!
//! The only place that knows it. Its requests are asynchronous; here they run on a thread of their own, on a runtime
//! that lives as long as they do.

use std::fs;
use std::future::Future;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path as FsPath, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload,
    RetryConfig,
};
use strongroom_core::digest::ArchiveId;
use strongroom_core::error::{Error, Result};

use super::http::Connector;
use super::{ColdStore, OBJECT_BYTES_MAX, ObjectName, Put, Reply};

/// How many requests run side by side.
const SIDE_BY_SIDE: usize = 8;

/// How often an object is created anew where the answer did not come: it is the same object.
const CREATE_TRIES: u32 = 2;

/// The longest words of a store that are repeated, in characters.
const WORDS_MAX: usize = 300;

/// The kinds of addresses.
const SCHEMES: [(&str, Kind); 9] = [
    ("file", Kind::Directory),
    ("s3", Kind::S3),
    ("s3a", Kind::S3),
    ("gs", Kind::Google),
    ("az", Kind::Azure),
    ("azure", Kind::Azure),
    ("adl", Kind::Azure),
    ("abfs", Kind::Azure),
    ("abfss", Kind::Azure),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Directory,
    S3,
    Google,
    Azure,
}

/// An address, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Address {
    kind: Kind,
    /// The address of the bucket, or the directory.
    bucket: String,
    /// Below what in the bucket objects stand.
    prefix: String,
}

impl Address {
    /// # Errors
    /// `InvalidInput` when it is of no kind that is known, or holds what has to stay secret.
    fn of(url: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::invalid_input(format!(
                "{why}; a cold tier is file:///DIRECTORY, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX"
            ))
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong("this is no address of a store"))?;
        let known = SCHEMES.iter().find(|(name, _)| *name == scheme);
        let (_, kind) = known.ok_or_else(|| wrong(&format!("{scheme} is no kind of store that is known")))?;
        if *kind == Kind::Directory {
            let is_plain = rest.starts_with('/') && !rest.split('/').any(|part| part == "..");
            let directory = is_plain.then(|| rest.trim_end_matches('/').to_owned());
            let directory = directory.filter(|directory| !directory.is_empty());
            let bucket = directory.ok_or_else(|| wrong("a directory needs its whole path"))?;
            return Ok(Self { kind: *kind, bucket, prefix: String::new() });
        }
        if rest.contains(['?', '#']) || rest.split_once('@').is_some_and(|(who, _)| who.contains(':')) {
            return Err(wrong("an address holds no keys: they are read from the environment"));
        }
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(wrong("no bucket is named"));
        }
        let bucket = format!("{scheme}://{bucket}");
        Ok(Self { kind: *kind, bucket, prefix: prefix.trim_matches('/').to_owned() })
    }

    /// The directory of an archive, where the store is one.
    fn directory(&self, archive: ArchiveId) -> Option<PathBuf> {
        (self.kind == Kind::Directory).then(|| FsPath::new(&self.bucket).join(archive.digest().to_string()))
    }
}

/// Makes what a store needs before its first object: a directory that is its owner's alone. Durable on return.
///
/// # Errors
/// `InvalidInput` when the address is of no kind that is known, `Unavailable` when the directory cannot be made.
pub(super) fn prepare(url: &str, archive: ArchiveId) -> Result<()> {
    let address = Address::of(url)?;
    let Some(directory) = address.directory(archive) else { return Ok(()) };
    let failed = |error: std::io::Error| {
        Error::unavailable(format!("{} cannot be made: {error}", directory.display())).caused_by(error)
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(failed)?;
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).map_err(failed)?;
    for parent in directory.ancestors().skip(1).take(2) {
        fs::File::open(parent).and_then(|parent| parent.sync_all()).map_err(failed)?;
    }
    Ok(())
}

/// The objects of one archive in one store.
pub(super) struct Objects {
    store: Arc<dyn ObjectStore>,
    /// What stands before the names of objects.
    root: Path,
    /// The directory that must be there, where the store is one.
    directory: Option<PathBuf>,
    worst_read_ms: AtomicU64,
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Objects").field("root", &self.root.as_ref()).finish_non_exhaustive()
    }
}

impl Objects {
    pub(super) fn open(url: &str, archive: ArchiveId, settings: &[(String, String)]) -> Result<Self> {
        let address = Address::of(url)?;
        let directory = address.directory(archive);
        let unusable = |error: object_store::Error| {
            Error::unavailable(format!("the cold tier {url} cannot be used: {}", words(&error)))
        };
        if let Some(directory) = directory.as_ref().filter(|directory| !directory.is_dir()) {
            let missing = directory.display();
            return Err(Error::unavailable(format!(
                "the cold tier {url} cannot be reached: {missing} is not there; is its disk mounted?"
            )));
        }
        let store = store(&address, settings).map_err(unusable)?;
        let prefix = Path::parse(&address.prefix)
            .map_err(|error| Error::invalid_input(format!("{url} is no address of a store: {error}")))?;
        let root = prefix.join(archive.digest().to_string());
        Ok(Self { store, root, directory, worst_read_ms: AtomicU64::new(0) })
    }

    fn path(&self, name: ObjectName) -> Path {
        let name = name.to_string();
        let first = name.get(..2).unwrap_or_default().to_owned();
        self.root.clone().join(first).join(name)
    }

    /// Runs a request for each of `items`, some side by side. When one finds nobody there, those behind it are not made.
    fn each<I, T, F>(
        &self,
        items: Vec<I>,
        request: impl Fn(Arc<dyn ObjectStore>, I) -> F + Sync,
    ) -> Vec<Reply<T>>
    where
        I: Send,
        T: Send + 'static,
        F: Future<Output = Reply<T>> + Send + 'static,
    {
        let count = items.len();
        if let Some(directory) = self.directory.as_ref().filter(|directory| !directory.is_dir()) {
            let missing = format!("{} is not there; is its disk mounted?", directory.display());
            return (0..count).map(|_| Err(missing.clone())).collect();
        }
        let run = || {
            on_runtime(async {
                let mut replies = Vec::with_capacity(count);
                let mut items = items.into_iter().peekable();
                while items.peek().is_some() {
                    let started: Vec<_> = (&mut items)
                        .take(SIDE_BY_SIDE)
                        .map(|item| tokio::spawn(request(Arc::clone(&self.store), item)))
                        .collect();
                    for one in started {
                        replies
                            .push(one.await.unwrap_or_else(|_| Err("the request was cut short".to_owned())));
                    }
                    let failed =
                        replies.iter().rev().take(SIDE_BY_SIDE).find_map(|reply| reply.as_ref().err());
                    if let Some(why) = failed.cloned() {
                        replies.extend(items.by_ref().map(|_| Err(why.clone())));
                    }
                }
                Ok(replies)
            })
        };
        // A caller may be on a runtime of its own, where another must not be waited for.
        let replies = std::thread::scope(|scope| scope.spawn(run).join());
        let replies = replies.unwrap_or_else(|_| Err("the requests were cut short".to_owned()));
        replies.unwrap_or_else(|why| (0..count).map(|_| Err(why.clone())).collect())
    }
}

fn on_runtime<T>(work: impl Future<Output = Reply<T>>) -> Reply<T> {
    let built = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = built.map_err(|error| format!("requests cannot be made: {error}"))?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    done
}

/// The settings of one vendor, as its builder takes them; names that it does not know mean something to others.
macro_rules! configured {
    ($builder:expr, $address:expr, $settings:expr) => {
        $settings
            .iter()
            .filter_map(|(name, value)| Some((name.to_ascii_lowercase().parse().ok()?, value)))
            .fold($builder, |builder, (key, value)| builder.with_config(key, value))
            .with_url(&$address.bucket)
            .with_retry(retries())
            .with_http_connector(Connector)
            .build()
            .map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
    };
}

fn store(address: &Address, settings: &[(String, String)]) -> object_store::Result<Arc<dyn ObjectStore>> {
    match address.kind {
        Kind::Directory => {
            let store = LocalFileSystem::new_with_prefix(&address.bucket)?.with_fsync(true);
            Ok(Arc::new(store))
        }
        Kind::S3 => configured!(AmazonS3Builder::new(), address, settings),
        Kind::Google => {
            // Its builder alone begins with keys that may travel without encryption.
            let plain = GoogleConfigKey::Client(ClientConfigKey::AllowHttp);
            let builder = GoogleCloudStorageBuilder::new().with_config(plain, "false");
            configured!(builder, address, settings)
        }
        Kind::Azure => configured!(MicrosoftAzureBuilder::new(), address, settings),
    }
}

fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(2),
            base: 2.0,
        },
        max_retries: 3,
        retry_timeout: Duration::from_secs(15),
    }
}

/// What a store says, without what follows in its own markup or an address.
fn words(error: &object_store::Error) -> String {
    let all = error.to_string();
    let before = all.split(['<', '?']).next().unwrap_or_default();
    before.chars().filter(|one| !one.is_control()).take(WORDS_MAX).collect::<String>().trim().to_owned()
}

impl ColdStore for Objects {
    fn create(&self, objects: &[(ObjectName, Vec<u8>)]) -> Vec<Reply<Put>> {
        let items = objects.iter().map(|(name, body)| (self.path(*name), body.clone())).collect();
        self.each(items, |store, (path, body)| create(store, path, PutPayload::from(body)))
    }

    fn get(&self, names: &[ObjectName]) -> Vec<Reply<Option<Vec<u8>>>> {
        let items = names.iter().map(|name| self.path(*name)).collect();
        let timed = self.each(items, |store, path| async move {
            let begun = Instant::now();
            let found = get(store, path).await?;
            Ok((found, u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)))
        });
        let note = |(found, ms): (Option<Vec<u8>>, u64)| {
            self.worst_read_ms.fetch_max(ms, Ordering::Relaxed);
            found
        };
        timed.into_iter().map(|reply| reply.map(note)).collect()
    }

    fn lens(&self, names: &[ObjectName]) -> Vec<Reply<Option<u64>>> {
        let items = names.iter().map(|name| self.path(*name)).collect();
        self.each(items, |store, path| async move {
            match store.head(&path).await {
                Ok(meta) => Ok(Some(meta.size)),
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(words(&error)),
            }
        })
    }

    fn delete(&self, names: &[ObjectName]) -> Vec<Reply<()>> {
        let items = names.iter().map(|name| self.path(*name)).collect();
        self.each(items, |store, path| async move {
            match store.delete(&path).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(words(&error)),
            }
        })
    }

    fn worst_read_ms(&self) -> u64 {
        self.worst_read_ms.load(Ordering::Relaxed)
    }
}

async fn create(store: Arc<dyn ObjectStore>, path: Path, body: PutPayload) -> Reply<Put> {
    let mut last = String::new();
    for _ in 0..CREATE_TRIES {
        let options = PutOptions::from(PutMode::Create);
        match store.put_opts(&path, body.clone(), options).await {
            Ok(_) => return Ok(Put::Created),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                return Ok(Put::Exists);
            }
            Err(error) => last = words(&error),
        }
    }
    Err(last)
}

async fn get(store: Arc<dyn ObjectStore>, path: Path) -> Reply<Option<Vec<u8>>> {
    let found = match store.get(&path).await {
        Ok(found) => found,
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(words(&error)),
    };
    if found.meta.size > OBJECT_BYTES_MAX {
        // Not what was put there; nothing of it is needed to know that.
        return Ok(Some(Vec::new()));
    }
    found.bytes().await.map(|bytes| Some(bytes.to_vec())).map_err(|error| words(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart_and_hold_no_keys() {
        let of = |url: &str| Address::of(url).map(|own| (own.kind, own.bucket, own.prefix));
        assert_eq!(of("file:///a/b/").unwrap(), (Kind::Directory, "/a/b".into(), String::new()));
        assert_eq!(of("s3://bucket/a/b/").unwrap(), (Kind::S3, "s3://bucket".into(), "a/b".into()));
        assert_eq!(of("gs://bucket").unwrap(), (Kind::Google, "gs://bucket".into(), String::new()));
        for wrong in [
            "",
            "/a",
            "ftp://a",
            "s3://",
            "file://a",
            "file:///",
            "file:///a/../b",
            "s3://k:s@b",
            "s3://b?key=1",
        ] {
            assert!(Address::of(wrong).is_err(), "{wrong}");
        }
    }
}
