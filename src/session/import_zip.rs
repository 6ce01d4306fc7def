//! A session's zip file, as `export_zip` writes it, as a session again.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path};

use zip::ZipArchive;

use super::error::SessionError;
use super::store::{Session, SessionStore};
use crate::context::CONTEXT_FILE;
use crate::files;

/// Bytes that are unpacked, at most: an archive may say anything about its size.
const LARGEST: u64 = 4 << 30;
/// Files of an export that belong to no session.
const ASIDE: [&str; 2] = ["manifest.json", ".lock"];

impl SessionStore {
    /// Makes a new session of `work_dir` from the zip file at `path`.
    ///
    /// # Errors
    /// When it is no export of a session, or files cannot be read or written; then nothing is left.
    pub fn import_zip(&self, work_dir: &Path, path: &Path) -> Result<Session, SessionError> {
        let refused = |reason| SessionError::Refused {
            what: format!("cannot import {}", path.display()),
            reason,
            advice: "Give a zip file that kimi-tui export has written.",
        };
        let file = File::open(path).map_err(SessionError::io("read", path))?;
        let mut zip = ZipArchive::new(file).map_err(|_| refused("it is no zip file"))?;
        if zip.index_for_name(CONTEXT_FILE).is_none() {
            return Err(refused("there is no context.jsonl in it"));
        }
        let session = self.create(work_dir, None)?;
        match unpack(&mut zip, &session.dir) {
            Ok(()) => Ok(session),
            Err(error) => {
                if let Err(error) = fs::remove_dir_all(&session.dir) {
                    tracing::warn!(path = %session.dir.display(), %error, "a half import stays");
                }
                Err(SessionError::io("unpack", path)(error))
            }
        }
    }
}

fn unpack(zip: &mut ZipArchive<File>, dir: &Path) -> io::Result<()> {
    let mut left = LARGEST;
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(io::Error::other)?;
        let Some(name) = entry.enclosed_name().filter(|_| entry.is_file()) else { continue };
        let is_plain = name.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_plain || ASIDE.iter().any(|aside| name == Path::new(aside)) {
            continue;
        }
        let to = dir.join(name);
        if let Some(folder) = to.parent() {
            files::create_private_folder(folder)?;
        }
        let mut out = files::open_append(&to)?;
        left -= io::copy(&mut entry.by_ref().take(left), &mut out)?;
        if left == 0 {
            return Err(io::Error::other("more than 4 GB are in it"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::message::Message;
    use crate::paths::Paths;
    use crate::session::export_zip;

    #[test]
    fn an_export_comes_back_as_a_session_and_anything_else_is_refused() {
        let folder = tempfile::tempdir().expect("folder");
        let store = SessionStore::new(Paths::new(folder.path().join("share")));
        let session = store.create(folder.path(), None).expect("session");
        let (mut context, _) = Context::open(&session.dir).expect("context");
        context.append(&[Message::user("remember me")]).expect("appended");
        let zip = folder.path().join("out.zip");
        export_zip(&session, &zip).expect("exported");
        let back = store.import_zip(folder.path(), &zip).expect("imported");
        assert_ne!(back.id, session.id);
        assert_eq!(back.summary().title, "remember me");
        assert!(!back.dir.join("manifest.json").exists());
        fs::write(&zip, "no zip").expect("written");
        let told = store.import_zip(folder.path(), &zip).expect_err("refused").to_string();
        assert!(told.contains("it is no zip file"), "{told}");
        assert_eq!(store.list(folder.path()).expect("list").len(), 2, "nothing is left of it");
    }
}
