import { api } from '../api/client.js';
import type { ConfigFile } from '../api/types.js';
import { isConfigEvent } from './live.js';
import { useResource, type Resource } from './resource.js';

/** A file can go away and come back between two looks of toolscout, which tell no event. */
const LOOK_AGAIN_MS = 5000;

/** The text of the config file, as it is now. */
export function useConfigFile(): Resource<ConfigFile> {
  return useResource('config text', api.configFile, isConfigEvent, LOOK_AGAIN_MS);
}
