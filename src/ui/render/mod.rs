//! From text to lines of cells: everything between what is known and what is drawn.
//!
//! - [`sanitize`] makes untrusted text safe, [`width`] measures and cuts it, [`wrap`] breaks it into lines.
//! - [`markdown`] and [`stream`] draw what a model says, [`highlight`] colours code, [`diff`] shows
//!   changes, [`ansi`] shows what commands print.
//! - [`cache`] keeps lines, [`sheet`] draws a long text where it is looked at, [`format`](mod@format) writes numbers.
//!
//! All of it is pure but for caches, which can be dropped at any moment. Nothing here knows the model
//! of the screen, and no text reaches a cell without having gone through [`sanitize`].

pub mod ansi;
pub mod cache;
pub mod diff;
pub mod format;
pub mod highlight;
pub mod links;
pub mod markdown;
pub mod sanitize;
pub mod settle;
pub mod sheet;
pub mod stream;
pub mod width;
pub mod wrap;
