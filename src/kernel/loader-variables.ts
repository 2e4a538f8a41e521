/** Variables that change the runner or the system's loader, and not the server. */
const LOADER_VARIABLE =
  /^(path|pathext|home|shell|ifs|comspec|systemroot|tmp|temp|tmpdir|env|node_.*|npm_.*|yarn_.*|bun_.*|deno_.*|pip_.*|uv_.*|python.*|virtual_env|conda_.*|dotnet_.*|coreclr_.*|nuget_.*|docker_(?:host|context|config|cert_path|tls.*|default_platform|content_trust.*)|buildkit_.*|electron_.*|ld_.*|dyld_.*|bash_.*|git_(?:ssh.*|exec.*|config.*|proxy.*|askpass|editor|pager|dir|template_dir|external_diff)|rubyopt|rubylib|gem_(?:home|path)|bundle_(?:gemfile|path|app_config)|classpath|lua_(?:init.*|path.*|cpath.*)|zdotdir|phprc|php_ini_scan_dir|xdg_(?:config|data)_(?:home|dirs)|corepack_.*|goproxy|goflags|gopath|gosumdb|gonosumdb|goprivate|gotoolchain|cargo_home|rustup_.*|pnpm_home|ts_node_.*|tsx_tsconfig_path|lessopen|lessclose|perl5.*|_?java_.*|jdk_.*|openssl_.*|ssl_cert_.*|sslkeylogfile|.*_ca_bundle|.*_proxy)$/i;
const HARMLESS_VARIABLE = /^(node_env|pythonunbuffered|pythonioencoding|pythonutf8)$/i;

/** Names that end like this hold a credential, whatever they begin with: `NPM_TOKEN`. */
const CREDENTIAL_VARIABLE =
  /(?:^|[_-])(?:token|key|apikey|secret|password|pat|credential|credentials|auth|authtoken)$/i;

/** Whether a variable decides which code or package runs: `NODE_OPTIONS`, `LD_PRELOAD`, `npm_config_registry` (A42). */
export function isLoaderVariable(name: string): boolean {
  return LOADER_VARIABLE.test(name) && !HARMLESS_VARIABLE.test(name);
}

/** Whether the name of such a variable says that it holds a credential all the same: `NPM_TOKEN`. */
export function isCredentialVariable(name: string): boolean {
  return CREDENTIAL_VARIABLE.test(name);
}
