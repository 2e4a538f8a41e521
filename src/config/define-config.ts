import type { ConfigInput } from '../model/config.js';

/** Returns the config unchanged; it exists so that a config written in TypeScript is checked while it is typed. */
export function defineConfig(config: ConfigInput): ConfigInput {
  return config;
}
