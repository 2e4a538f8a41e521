import { addAdd, addRemove } from './commands/add.js';
import { addApprove, addReject } from './commands/approve.js';
import { addAudit } from './commands/audit.js';
import { addAuth } from './commands/auth.js';
import { addCache } from './commands/cache.js';
import { addCall } from './commands/call.js';
import { addConfig } from './commands/config.js';
import { addDiff } from './commands/diff.js';
import { addDiscover, addWarm } from './commands/discover.js';
import { addDoctor } from './commands/doctor.js';
import { addEval } from './commands/eval.js';
import { addExport } from './commands/export.js';
import { addImport } from './commands/import.js';
import { addInit } from './commands/init.js';
import { addInspect } from './commands/inspect.js';
import { addPending } from './commands/pending.js';
import { addInstall } from './commands/install.js';
import { addLock } from './commands/lock.js';
import { addRegistry } from './commands/registry.js';
import { addRun } from './commands/run.js';
import { addScan } from './commands/scan.js';
import { addSearch } from './commands/search.js';
import { addSecret } from './commands/secret.js';
import { addServe } from './commands/serve.js';
import { addServers } from './commands/servers.js';
import { addSkills } from './commands/skills.js';
import { addService } from './commands/service.js';
import { addStats } from './commands/stats.js';
import { addStudio } from './commands/studio.js';
import { addStore } from './commands/store.js';
import { addTools } from './commands/tools.js';
import { addWhy } from './commands/why.js';

/** Every command, in the order of the help. */
export const COMMANDS = [
  addInit,
  addAdd,
  addRemove,
  addServe,
  addStudio,
  addServers,
  addSearch,
  addTools,
  addInspect,
  addCall,
  addRun,
  addDiscover,
  addWarm,
  addPending,
  addApprove,
  addReject,
  addDiff,
  addScan,
  addLock,
  addAuth,
  addRegistry,
  addExport,
  addImport,
  addInstall,
  addConfig,
  addSecret,
  addCache,
  addService,
  addStore,
  addAudit,
  addStats,
  addDoctor,
  addEval,
  addWhy,
  addSkills,
];
