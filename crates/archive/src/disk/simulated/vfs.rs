//! `SQLite`'s file system, wrapped: changes to files in watched directories are recorded, and fail as planned.
//!
//! Files elsewhere are passed through. Watched files are never flushed for real: what is durable is for the recording to
//! say, and tests are faster.
#![expect(unsafe_code, reason = "SQLite's file system is a table of C functions over raw memory")]

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Once;

use rusqlite::ffi::{self, sqlite3_file, sqlite3_io_methods, sqlite3_vfs};

use super::{Ask, Event, Failure, FileNo, Shared, Verdict, watcher};

/// The bytes of a page, and so of the only writes to the log that are a page.
const PAGE_BYTES: usize = 4096;

/// An open file as `SQLite` holds it. The file below lies in the same memory, behind this.
#[repr(C)]
struct Handle {
    base: sqlite3_file,
    below: *mut sqlite3_file,
    /// Owned; null for files that nobody watches.
    tap: *mut Tap,
}

/// The recording side of an open file.
struct Tap {
    recorder: Shared,
    file: FileNo,
    is_log: bool,
    /// `SQLite` flushes the directory with the first flush of a log that it might have made.
    owes_dir_flush: bool,
}

/// Makes the wrapped file system the default, once in a process.
pub(super) fn install() {
    static ONCE: Once = Once::new();
    // SAFETY: the copied table is that of the default file system, whose functions do not look at the table they are
    // called with unless to open a file, and `open` gives them their own. Both tables live as long as the process.
    ONCE.call_once(|| unsafe {
        let below = ffi::sqlite3_vfs_find(std::ptr::null());
        let mut table = *below;
        table.szOsFile += c_int::try_from(size_of::<Handle>()).unwrap();
        table.pNext = std::ptr::null_mut();
        table.zName = c"simulated".as_ptr();
        table.pAppData = below.cast();
        table.xOpen = Some(open);
        table.xDelete = Some(delete);
        ffi::sqlite3_vfs_register(Box::leak(Box::new(table)), 1);
    });
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    // Without the third version's functions nothing is mapped, so that every change passes here.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Functions that only pass on.
macro_rules! pass {
    ($($name:ident => $method:ident($($argument:ident: $type:ty),*);)*) => {$(
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $type)*) -> c_int {
            // SAFETY: SQLite passes a file that `open` filled, and arguments that suit the file below.
            unsafe {
                let below = (*file.cast::<Handle>()).below;
                (*(*below).pMethods).$method.map_or(ffi::SQLITE_IOERR, |pass| pass(below $(, $argument)*))
            }
        }
    )*};
}

pass! {
    read => xRead(to: *mut c_void, len: c_int, offset: i64);
    pass_write => xWrite(from: *const c_void, len: c_int, offset: i64);
    pass_truncate => xTruncate(len: i64);
    pass_sync => xSync(flags: c_int);
    pass_close => xClose();
    file_size => xFileSize(to: *mut i64);
    lock => xLock(level: c_int);
    unlock => xUnlock(level: c_int);
    check_reserved_lock => xCheckReservedLock(to: *mut c_int);
    file_control => xFileControl(what: c_int, argument: *mut c_void);
    sector_size => xSectorSize();
    device_characteristics => xDeviceCharacteristics();
    shm_map => xShmMap(region: c_int, len: c_int, extend: c_int, to: *mut *mut c_void);
    shm_lock => xShmLock(offset: c_int, count: c_int, flags: c_int);
    shm_unmap => xShmUnmap(delete: c_int);
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    // SAFETY: as for the functions that only pass on.
    unsafe {
        let below = (*file.cast::<Handle>()).below;
        if let Some(barrier) = (*(*below).pMethods).xShmBarrier {
            barrier(below);
        }
    }
}

unsafe fn path_of<'n>(name: *const c_char) -> Option<&'n Path> {
    // SAFETY: SQLite's names are null or end with a zero.
    let name = unsafe { (!name.is_null()).then(|| CStr::from_ptr(name))? };
    Some(Path::new(OsStr::from_bytes(name.to_bytes())))
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: `file` is `szOsFile` bytes of memory for this call to fill: our handle and the file below.
    unsafe {
        let handle = file.cast::<Handle>();
        let below = handle.add(1).cast::<sqlite3_file>();
        (*below).pMethods = std::ptr::null();
        handle.write(Handle {
            base: sqlite3_file { pMethods: std::ptr::null() },
            below,
            tap: std::ptr::null_mut(),
        });
        let path = path_of(name);
        let table = (*vfs).pAppData.cast::<sqlite3_vfs>();
        let Some(pass) = (*table).xOpen else { return ffi::SQLITE_CANTOPEN };
        let code = pass(table, name, below, flags, out);
        if code == ffi::SQLITE_OK {
            (*handle).base.pMethods = &raw const METHODS;
            if let Some(tap) = path.and_then(|path| tap(path, flags)) {
                (*handle).tap = Box::into_raw(Box::new(tap));
            }
        }
        code
    }
}

fn tap(path: &Path, flags: c_int) -> Option<Tap> {
    let (recorder, name) = watcher(path)?;
    let file = recorder.lock().file(&name);
    let is_log = flags & ffi::SQLITE_OPEN_WAL != 0;
    let is_journal = is_log || flags & ffi::SQLITE_OPEN_MAIN_JOURNAL != 0;
    let owes_dir_flush = is_journal && flags & ffi::SQLITE_OPEN_CREATE != 0;
    Some(Tap { recorder, file, is_log, owes_dir_flush })
}

/// The recording side of a file.
unsafe fn tap_of<'f>(file: *mut sqlite3_file) -> Option<&'f mut Tap> {
    // SAFETY: `open` filled the handle, `close` alone frees the tap, and SQLite uses a file from one thread at a time.
    unsafe { (*file.cast::<Handle>()).tap.as_mut() }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once; the tap came from a box.
    unsafe {
        let tap = (*file.cast::<Handle>()).tap;
        if !tap.is_null() {
            drop(Box::from_raw(tap));
        }
        pass_close(file)
    }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, from: *const c_void, len: c_int, offset: i64) -> c_int {
    // SAFETY: `from` points to `len` bytes.
    unsafe {
        let Some(tap) = tap_of(file) else { return pass_write(file, from, len, offset) };
        let given = std::slice::from_raw_parts(from.cast::<u8>(), usize::try_from(len).unwrap());
        let (bytes, code) = tap.written(given);
        if bytes.is_empty() {
            return code;
        }
        let passed = pass_write(file, bytes.as_ptr().cast(), c_int::try_from(bytes.len()).unwrap(), offset);
        if passed != ffi::SQLITE_OK {
            return passed;
        }
        let offset = u64::try_from(offset).unwrap();
        tap.record(Event::Write { file: tap.file, offset, bytes });
        code
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, len: i64) -> c_int {
    // SAFETY: as for the functions that only pass on.
    unsafe {
        let Some(tap) = tap_of(file) else { return pass_truncate(file, len) };
        if tap.recorder.lock().ask(Ask::Truncate) != Verdict::Pass {
            return ffi::SQLITE_IOERR_TRUNCATE;
        }
        let passed = pass_truncate(file, len);
        if passed == ffi::SQLITE_OK {
            tap.record(Event::Truncate { file: tap.file, len: u64::try_from(len).unwrap() });
        }
        passed
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: as for the functions that only pass on.
    unsafe {
        let Some(tap) = tap_of(file) else { return pass_sync(file, flags) };
        if tap.recorder.lock().ask(Ask::Flush) != Verdict::Pass {
            tap.record(Event::FlushFailed { file: tap.file });
            return ffi::SQLITE_IOERR_FSYNC;
        }
        tap.record(Event::Flush { file: tap.file });
        if std::mem::take(&mut tap.owes_dir_flush) {
            tap.record(Event::FlushDir);
        }
        ffi::SQLITE_OK
    }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, flush_dir: c_int) -> c_int {
    // SAFETY: the file system below is called with its own table.
    unsafe {
        let table = (*vfs).pAppData.cast::<sqlite3_vfs>();
        let Some(pass) = (*table).xDelete else { return ffi::SQLITE_IOERR_DELETE };
        let Some((recorder, name_there)) = path_of(name).and_then(watcher) else {
            return pass(table, name, flush_dir);
        };
        if recorder.lock().ask(Ask::Name) != Verdict::Pass {
            return ffi::SQLITE_IOERR_DELETE;
        }
        let passed = pass(table, name, 0);
        if passed == ffi::SQLITE_OK {
            let mut recorder = recorder.lock();
            recorder.unlink(&name_there);
            if flush_dir != 0 {
                recorder.events.push(Event::FlushDir);
            }
        }
        passed
    }
}

impl Tap {
    fn record(&self, event: Event) {
        self.recorder.lock().events.push(event);
    }

    /// What of `given` reaches the file, and what `SQLite` is told.
    fn written(&self, given: &[u8]) -> (Vec<u8>, c_int) {
        let ask = if self.is_log && given.len() == PAGE_BYTES { Ask::LogPage } else { Ask::Write };
        match self.recorder.lock().ask(ask) {
            Verdict::Pass => (given.to_vec(), ffi::SQLITE_OK),
            Verdict::Fail(Failure::Full) => (Vec::new(), ffi::SQLITE_FULL),
            Verdict::Fail(Failure::Short) => {
                (given.get(..given.len() / 2).unwrap_or_default().to_vec(), ffi::SQLITE_FULL)
            }
            Verdict::Fail(Failure::Io | Failure::Flush) => (Vec::new(), ffi::SQLITE_IOERR_WRITE),
            Verdict::Fail(Failure::Flip) => {
                let mut changed = given.to_vec();
                if let Some(byte) = changed.get_mut(given.len() / 2) {
                    *byte ^= 0x10;
                }
                (changed, ffi::SQLITE_OK)
            }
        }
    }
}
