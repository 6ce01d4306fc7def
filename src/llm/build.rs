//! From a resolved model to the provider that speaks to it.

use std::path::Path;
use std::sync::Arc;

use super::anthropic::Anthropic;
use super::gemini::Gemini;
use super::openai::{OpenAi, Sampling};
use super::responses::Responses;
use super::scripted::{Echo, SCRIPTS_VARIABLE, ScriptedEcho, TRACE_VARIABLE, is_yes};
use super::{ChatProvider, LlmError};
use crate::config::{ProviderKind, ResolvedModel};

/// The provider of `model`, with no knobs from the environment.
///
/// # Errors
/// As [`build_with_env`].
pub fn build(model: &ResolvedModel) -> Result<Arc<dyn ChatProvider>, LlmError> {
    build_with_env(model, &|_| None)
}

/// The provider of `model`; `env` answers for `KIMI_MODEL_*` ([`Sampling`]) and for the script of
/// `_scripted_echo` when the provider's own `env` does not name it. Nothing is connected yet.
///
/// # Errors
/// [`LlmError::Protocol`] when the provider's settings cannot work, or its kind is not spoken; it
/// says what to change.
pub fn build_with_env(
    model: &ResolvedModel,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn ChatProvider>, LlmError> {
    match model.provider.kind {
        ProviderKind::Kimi => Ok(Arc::new(OpenAi::new(model, Sampling::from_env(env)?)?)),
        ProviderKind::OpenaiLegacy => Ok(Arc::new(OpenAi::new(model, Sampling::default())?)),
        ProviderKind::Anthropic => Ok(Arc::new(Anthropic::new(model)?)),
        ProviderKind::OpenaiResponses => Ok(Arc::new(Responses::new(model)?)),
        ProviderKind::GoogleGenai => Ok(Arc::new(Gemini::new(model)?)),
        ProviderKind::Echo => Ok(Arc::new(Echo)),
        ProviderKind::ScriptedEcho => {
            let own = model.provider.env.get(SCRIPTS_VARIABLE).cloned();
            let path = own.or_else(|| env(SCRIPTS_VARIABLE)).filter(|path| !path.is_empty());
            let path = path.ok_or_else(|| {
                LlmError::Protocol(format!(
                    "provider \"{}\" of type _scripted_echo has no script: set \
                     env = {{ {SCRIPTS_VARIABLE} = \"/path/to/scripts.json\" }}",
                    model.key
                ))
            })?;
            let trace = model.provider.env.get(TRACE_VARIABLE).cloned();
            let trace = trace.or_else(|| env(TRACE_VARIABLE)).is_some_and(|value| is_yes(&value));
            Ok(Arc::new(ScriptedEcho::open(Path::new(&path))?.with_trace(trace)))
        }
        ProviderKind::Vertexai => Ok(Arc::new(Gemini::on_vertex(model, env)?)),
        ProviderKind::Chaos => Err(not_spoken(&model.key)),
    }
}

fn not_spoken(key: &str) -> LlmError {
    LlmError::Protocol(format!(
        "model \"{key}\": this version speaks to providers of type kimi, openai_legacy, \
         openai_responses, anthropic, google_genai and vertexai, not _chaos. In config.toml set \
         type = \"openai_legacy\" and the base_url of an OpenAI-compatible endpoint"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::llm::fixture;

    fn model(kind: ProviderKind, env: &[(&str, &str)]) -> ResolvedModel {
        let mut model = fixture::model(kind, "http://127.0.0.1:9/v1");
        model.provider.api_key.clear();
        model.provider.env = env.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        model
    }

    fn refused(model: &ResolvedModel) -> String {
        build(model).err().expect("refused").to_string()
    }

    #[test]
    fn kinds_that_are_spoken() {
        for kind in [
            ProviderKind::Kimi,
            ProviderKind::OpenaiLegacy,
            ProviderKind::OpenaiResponses,
            ProviderKind::Anthropic,
            ProviderKind::GoogleGenai,
        ] {
            assert_eq!(build(&model(kind, &[])).expect("a provider").model_name(), "some-model");
        }
        assert_eq!(build(&model(ProviderKind::Echo, &[])).expect("ok").model_name(), "echo");
    }

    #[test]
    fn kinds_that_are_not_say_what_to_do() {
        let said = refused(&model(ProviderKind::Chaos, &[]));
        assert!(said.contains("not _chaos") && said.contains("type = \"openai_legacy\""), "{said}");
        let said = refused(&model(ProviderKind::Vertexai, &[]));
        assert!(said.contains("api_key"), "{said}");
        let env = [("GOOGLE_ACCESS_TOKEN", "ya29.t"), ("GOOGLE_CLOUD_PROJECT", "p")];
        assert!(build(&model(ProviderKind::Vertexai, &env)).is_ok());
    }

    #[test]
    fn a_scripted_model_finds_its_script() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("s.json");
        std::fs::write(&path, "[\"text: hi\"]").expect("write");
        let path = path.to_str().expect("text");
        let none = model(ProviderKind::ScriptedEcho, &[]);
        assert!(refused(&none).contains(SCRIPTS_VARIABLE));
        assert!(build(&model(ProviderKind::ScriptedEcho, &[(SCRIPTS_VARIABLE, path)])).is_ok());
        let env = |name: &str| (name == SCRIPTS_VARIABLE).then(|| path.to_owned());
        assert!(build_with_env(&none, &env).is_ok(), "the real environment counts too");
    }

    #[test]
    fn wrong_settings_are_told_before_anything_is_sent() {
        let mut wrong = model(ProviderKind::Kimi, &[]);
        wrong.provider.base_url = "api.moonshot.cn".into();
        assert!(refused(&wrong).contains("base_url"));
        let env = |name: &str| (name == "KIMI_MODEL_TEMPERATURE").then(|| "warm".to_owned());
        let kimi = model(ProviderKind::Kimi, &[]);
        assert!(build_with_env(&kimi, &env).err().expect("no").to_string().contains("warm"));
        let other = model(ProviderKind::OpenaiLegacy, &[]);
        assert!(build_with_env(&other, &env).is_ok(), "the knobs are Kimi's");
    }

    /// The settings that `docs/models.md` shows.
    fn documented() -> Vec<Config> {
        let page = include_str!("../../docs/models.md");
        let blocks = page.split("```toml\n").skip(1);
        let texts = blocks.map(|rest| rest.split("```").next().expect("a closed block"));
        texts.map(|text| toml::from_str(text).expect("settings")).collect()
    }

    #[test]
    fn the_settings_in_the_docs_work() {
        let documented = documented();
        assert!(documented.len() >= 7, "{} blocks", documented.len());
        for config in documented {
            let (key, settings) = config.models.first_key_value().expect("a model");
            assert_eq!(&config.default_model, key);
            let mut model = model(ProviderKind::Kimi, &[]);
            model.provider = config.providers[&settings.provider].clone();
            if let Err(error) = build(&model) {
                // The script file of the example is the only thing that is not there.
                assert!(error.to_string().contains("/path/to/scripts.json"), "{error}");
            }
        }
    }
}
