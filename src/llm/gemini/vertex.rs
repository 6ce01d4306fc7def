//! Where Gemini is on Vertex AI, and as whom one asks there: provider kind `vertexai`.
//!
//! Two ways are spoken: an API key (express mode), and an access token together with a project. A
//! token is used as it is and not renewed; service account files are not read.

use crate::config::ResolvedModel;
use crate::llm::LlmError;
use crate::llm::http::Auth;

/// The address of every region at once.
const HOST: &str = "https://aiplatform.googleapis.com";
/// Variables that may hold an access token.
const TOKENS: [&str; 2] = ["GOOGLE_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN"];
/// How Google's access tokens begin.
const TOKEN_HEAD: &str = "ya29.";

/// Where and as whom.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) base: String,
    pub(super) path: String,
    pub(super) key: String,
    pub(super) auth: Auth,
}

/// The place of `model`; the provider's own `env` goes before `env`.
///
/// # Errors
/// [`LlmError::Protocol`] when something is missing, with what to set.
pub(super) fn place(
    model: &ResolvedModel,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Place, LlmError> {
    let provider = &model.provider;
    let variable = |name: &str| {
        let value = provider.env.get(name).cloned().or_else(|| env(name))?;
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    };
    let key = provider.api_key.trim();
    let own_token = key.starts_with(TOKEN_HEAD).then(|| key.to_owned());
    let token = own_token.or_else(|| TOKENS.iter().find_map(|name| variable(name)));
    let base = provider.base_url.trim().trim_end_matches('/').to_owned();
    let base_or = |host: String| if base.is_empty() { host } else { base.clone() };
    let name = model.model.strip_prefix("models/").unwrap_or(&model.model);
    let call = format!("publishers/google/models/{name}:streamGenerateContent");
    if token.is_none() && !key.is_empty() {
        return Ok(Place {
            base: base_or(HOST.to_owned()),
            path: format!("/v1/{call}"),
            key: key.to_owned(),
            auth: Auth::Header("x-goog-api-key"),
        });
    }
    let Some(token) = token else {
        let file = match variable("GOOGLE_APPLICATION_CREDENTIALS") {
            Some(_) => "GOOGLE_APPLICATION_CREDENTIALS is not read by this program. ",
            None => "",
        };
        return Err(LlmError::Protocol(format!(
            "model \"{}\": nobody is known to ask Vertex AI as. {file}Set api_key to a key of Vertex \
             AI, or GOOGLE_ACCESS_TOKEN to what `gcloud auth print-access-token` prints (it holds \
             for an hour) together with GOOGLE_CLOUD_PROJECT",
            model.key
        )));
    };
    let Some(project) = variable("GOOGLE_CLOUD_PROJECT") else {
        return Err(LlmError::Protocol(format!(
            "model \"{}\": an access token needs a project. Set GOOGLE_CLOUD_PROJECT, in the \
             provider's env or in the environment",
            model.key
        )));
    };
    let location = variable("GOOGLE_CLOUD_LOCATION").unwrap_or_else(|| "global".to_owned());
    let host = match location.as_str() {
        "global" => HOST.to_owned(),
        place => format!("https://{place}-aiplatform.googleapis.com"),
    };
    Ok(Place {
        base: base_or(host),
        path: format!("/v1/projects/{project}/locations/{location}/{call}"),
        key: token,
        auth: Auth::Bearer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ProviderKind;
    use crate::llm::fixture;

    fn placed(key: &str, base: &str, env: &[(&str, &str)]) -> Result<Place, String> {
        let mut model = fixture::model(ProviderKind::Vertexai, base);
        model.model = "gemini-x".into();
        model.provider.api_key = key.into();
        model.provider.env = env.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        place(&model, &|_| None).map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_needs_no_project_and_a_token_does() {
        let by_key = placed("AIza-key", "", &[]).expect("a place");
        assert_eq!(by_key.base, "https://aiplatform.googleapis.com");
        let path = "/v1/publishers/google/models/gemini-x:streamGenerateContent";
        assert_eq!(by_key.path, path);
        assert!(matches!(by_key.auth, Auth::Header("x-goog-api-key")));

        let project = ("GOOGLE_CLOUD_PROJECT", "p-1");
        let place = ("GOOGLE_CLOUD_LOCATION", "europe-west4");
        let token = ("GOOGLE_ACCESS_TOKEN", "ya29.t");
        for (key, env) in [("", vec![project, place, token]), ("ya29.t", vec![project, place])] {
            let by_token = placed(key, "", &env).expect("a place");
            assert_eq!(by_token.base, "https://europe-west4-aiplatform.googleapis.com");
            assert!(by_token.path.starts_with("/v1/projects/p-1/locations/europe-west4/publish"));
            assert!(matches!(by_token.auth, Auth::Bearer) && by_token.key == "ya29.t");
        }
        let own = placed("k", "http://127.0.0.1:9/", &[]).expect("a place");
        assert_eq!(own.base, "http://127.0.0.1:9");
    }

    #[test]
    fn what_is_missing_is_told() {
        let said = placed("ya29.t", "", &[]).expect_err("no project");
        assert!(said.contains("GOOGLE_CLOUD_PROJECT"), "{said}");
        let file = ("GOOGLE_APPLICATION_CREDENTIALS", "/key.json");
        let said = placed("", "", &[file]).expect_err("nobody");
        assert!(said.contains("CREDENTIALS is not read") && said.contains("gcloud"), "{said}");
    }
}
