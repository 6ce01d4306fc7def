//! The generations of a session's context, for front ends, which do not see `context` itself.

pub use crate::context::generations::{
    Beginning, Cause, GenerationInfo, Redo, RevertPreview, StepInfo, ToolUse, Transcript, list,
    redo, transcript,
};
