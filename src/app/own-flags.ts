import { userInfo } from 'node:os';
import { isAbsolute, parse, join } from 'node:path';
import { userConfigStem } from '../config/index.js';
import type { OwnFlags } from '../front/http/routes/sessions.js';
import { unusualStateDirectory } from './state-place.js';

/**
 * What a command in a plain terminal of the user needs to reach this toolscout: its state, and its config. A file of a folder is
 * found in that folder alone, so only the user's own config is left out.
 */
export function ownFlags(
  source: string,
  around: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly stateDir?: string;
  },
): OwnFlags {
  const stateDir = unusualStateDirectory(around);
  const state = stateDir === undefined ? {} : { stateDir };
  if (source === 'demo') return { ...state, demo: true };
  // What is no path names no file: a config that a program gave, or none at all.
  if (!isAbsolute(source)) return state;
  const { dir, name } = parse(source);
  const isUsual = join(dir, name) === userConfigStem({ home: userInfo().homedir });
  return isUsual ? state : { ...state, config: source };
}
