export { createBriefings } from './briefing.js';
export { covers, deriveCapabilities, negotiate, type OfferingServer, type ServerCondition } from './negotiate.js';
export { readSkill, readSkills, watchSkills, type SkillSet } from './skill-folder.js';
