/** Variables that change the runner or the system's loader, and not the server, as patterns in lower case. */
const LOADER_VARIABLES = (
  String.raw`path pathext home shell ifs comspec systemroot tmp temp tmpdir env node_.* npm_.* yarn_.* bun_.* deno_.* pip_.* uv_.* ` +
  String.raw`python.* virtual_env conda_.* dotnet_.* coreclr_.* nuget_.* ` +
  String.raw`docker_(?:host|context|config|cert_path|tls.*|default_platform|content_trust.*) buildkit_.* electron_.* ld_.* dyld_.* bash_.* ` +
  String.raw`git_(?:ssh.*|exec.*|config.*|proxy.*|askpass|editor|pager|dir|template_dir|external_diff) rubyopt rubylib gem_(?:home|path) ` +
  String.raw`bundle_(?:gemfile|path|app_config) classpath lua_(?:init.*|path.*|cpath.*) zdotdir phprc php_ini_scan_dir ` +
  String.raw`xdg_(?:config|data)_(?:home|dirs) corepack_.* goproxy goflags gopath gosumdb gonosumdb goprivate gotoolchain rustup_.* ` +
  String.raw`pnpm_home ts_node_.* tsx_tsconfig_path lessopen lessclose perl5.* _?java_.* jdk_.* openssl_.* ssl_cert_.* sslkeylogfile ` +
  String.raw`.*_ca_bundle .*_proxy gconv_path glibc_tunables bashopts shellopts prompt_command ps4 psmodulepath gio_extra_modules ` +
  String.raw`gtk_modules gtk_path qt_plugin_path tcllibpath perllib mono_.* complus_.* cor_(?:enable_profiling|profiler.*) ` +
  String.raw`julia_(?:load_path|depot_path|project|bindir) r_(?:home|libs.*|profile.*|environ.*) guile_(?:auto_compile|load.*) erl_.*flags ` +
  String.raw`elixir_erl_options goenv goroot gotooldir cargo_.* rustc.* rustflags maven_(?:opts|home) gradle_(?:opts|user_home) sbt_opts ` +
  String.raw`volta_home nvm_dir fnm_dir pyenv_.* rbenv_.* asdf_.* mise_.* pipx_.* poetry_.* composer_(?:home|vendor_dir) ` +
  String.raw`nix_(?:path|config|remote) container_(?:host|sshkey) containers_.*`
).split(' ');
const LOADER_VARIABLE = new RegExp(`^(?:${LOADER_VARIABLES.join('|')})$`, 'i');
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
