export { planLaunch, planLaunches } from './launch.js';
export { createRegistryClient, REGISTRY_BYTES, type RegistryClient, type RegistrySearchOptions } from './official.js';
export { createSafeFetch } from './safe-fetch.js';
