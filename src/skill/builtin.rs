//! The skills that are part of the program. The model reads a skill's file, so they are written
//! into the share folder when a session opens, again whenever the text there is not this program's.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files;

/// Names and texts.
pub(super) const ALL: [(&str, &str); 2] = [
    ("write-a-skill", include_str!("../../skills/write-a-skill/SKILL.md")),
    ("write-a-hook", include_str!("../../skills/write-a-hook/SKILL.md")),
];

/// The file of the skill `name` below the share folder.
pub(super) fn place(share: &Path, name: &str) -> PathBuf {
    share.join("builtin-skills").join(name).join("SKILL.md")
}

/// Writes the files whose text is not this program's.
pub(super) fn write(share: &Path) {
    for (name, text) in ALL {
        let path = place(share, name);
        if fs::read(&path).is_ok_and(|bytes| bytes == text.as_bytes()) {
            continue;
        }
        let folder = path.parent().unwrap_or(share);
        let written =
            fs::create_dir_all(folder).and_then(|()| files::write_atomic(&path, text.as_bytes()));
        if let Err(error) = written {
            tracing::warn!(path = %path.display(), %error, "a built-in skill has no file");
        }
    }
}
