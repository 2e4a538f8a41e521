export { isInternalAddress } from './address.js';
export { planLaunch, planLaunches, showCommand, type LaunchOptions } from './launch.js';
export {
  createRegistryClient,
  REGISTRY_BYTES,
  type RegistryClient,
  type RegistryClientDeps,
  type RegistrySearchOptions,
} from './official.js';
export { createSafeFetch, type Fetched, type FetchProblem, type SafeFetch, type SafeFetchDeps } from './safe-fetch.js';
export { readEntry } from './server-json.js';
