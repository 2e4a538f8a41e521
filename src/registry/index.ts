export { createInventory, type InventoryItem } from './inventory.js';
export { planLaunch, planLaunches } from './launch/launch.js';
export { createRegistryClient, type RegistryClient, type RegistrySearchOptions } from './official.js';
export { createProbe } from './probe.js';
export { createRegistry, type LocalState, type Registry } from './registry.js';
export { createSafeFetch } from '../net/safe-fetch.js';
export type { ProbeEvent } from './registry.js';
export type { ProbeResult } from './probe.js';
export type { SelfDescription } from './documents.js';
