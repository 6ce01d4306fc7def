//! Configuration: `config.toml` of the Python program, flags and environment, resolved into values.

mod schema;

pub use schema::{
    Capability, Config, LoopControl, ModelConfig, ProviderConfig, ProviderKind, ResolvedModel,
};
