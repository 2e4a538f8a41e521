export { createApprovals, type Approvals } from './approvals.js';
export type { ApprovalPolicy, Hold, Judgement } from './decide.js';
export { originOf } from './fingerprint.js';
export { createMarketplace, type Marketplace } from './marketplace.js';
export { createRegistrations, REGISTRATIONS, type Registration, type Registrations } from './registrations.js';
export { createPromotion, type Promotion } from './promotion.js';
export { checkHash, type ChosenSubject } from './rule.js';
export { createShown } from './shown.js';
export { findSigns } from './signs.js';
