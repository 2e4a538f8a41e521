import { resolve } from 'node:path';
import { validateConfig } from '../../config/index.js';
import type { Problem } from '../../kernel/errors.js';
import { configReader, type ToolscoutOptions } from '../open-gateway.js';
import type { Config, ConfigInput } from '../../model/config.js';

/** Fields by the names that they had elsewhere; the warnings of a config name those of today. */
export interface EarlierNames {
  timeout?: number;
  cache?: ConfigInput['cache'] | { enabled?: boolean; ttl?: number };
}

/** A configuration as a program writes it. */
export type DiscoveryConfig = Omit<ConfigInput, 'cache' | 'discovery'> &
  EarlierNames & { discovery?: Omit<NonNullable<ConfigInput['discovery']>, 'cache'> & EarlierNames };

/** What is wrong with a configuration, and what merely deserves a look. */
export interface ValidationResult {
  readonly valid: boolean;
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Reads and checks configurations, without starting anything. */
export class ConfigurationLoader {
  readonly #options: Pick<ToolscoutOptions, 'cwd' | 'env' | 'stateDir'>;

  constructor(options: Pick<ToolscoutOptions, 'cwd' | 'env' | 'stateDir'> = {}) {
    this.#options = options;
  }

  /**
   * The configuration of a file, with every default; without a path, of the file that is found (CFG-1).
   *
   * @throws ToolscoutError `CONFIGURATION_ERROR` with all problems.
   */
  async load(configPath?: string): Promise<Config> {
    const config = configPath === undefined ? undefined : resolve(this.#options.cwd ?? '', configPath);
    return (await configReader({ ...this.#options, config })()).config;
  }

  /** Every problem of a configuration, each with its path (CFG-3). */
  validate(config: DiscoveryConfig): ValidationResult {
    const { problems, warnings } = validateConfig(config);
    return { valid: problems.length === 0, errors: problems, warnings };
  }
}
