export {
  ConfigurationLoader,
  type DiscoveryConfig,
  type EarlierNames,
  type ValidationResult,
} from './configuration-loader.js';
export { PatternMatcher, SearchEngine, ToolExecutionProxy, ToolMetadataManager } from './discovery-components.js';
export { DiscoveryEngine, type ServerMetadata, type ToolMetadata } from './discovery-engine.js';
export {
  DiscoveryService,
  McpDiscoveryProvider,
  RuntimeMcpDiscovery,
  type CapabilityCandidate,
  type DiscoveredServer,
  type WarmStatistics,
} from './discovery-service.js';
export type { ToolExample } from '../../normalize/index.js';
