import type { SourceType } from '../model/config.js';
import { air } from './importers/air.js';
import { amazonQ } from './importers/amazon-q.js';
import { ccosOverrides } from './importers/ccos-overrides.js';
import { claudeCode } from './importers/claude-code.js';
import { claudeDesktop } from './importers/claude-desktop.js';
import { cline } from './importers/cline.js';
import { codex } from './importers/codex.js';
import { continueDev } from './importers/continue.js';
import { copilot } from './importers/copilot.js';
import { cursor } from './importers/cursor.js';
import { dockerMcp } from './importers/docker-mcp.js';
import { geminiCli } from './importers/gemini-cli.js';
import { goose } from './importers/goose.js';
import type { Importer } from './importer.js';
import { junie } from './importers/junie.js';
import { kiro } from './importers/kiro.js';
import { lmStudio } from './importers/lm-studio.js';
import { opencode } from './importers/opencode.js';
import { rangerMcpJson } from './importers/ranger-mcp-json.js';
import { roo } from './importers/roo.js';
import { toolsYaml } from './importers/tools-yaml.js';
import { vscode } from './importers/vscode.js';
import { warp } from './importers/warp.js';
import { windsurf } from './importers/windsurf.js';
import { zed } from './importers/zed.js';

/** Every importer, by the name it has in `sources`. */
export const IMPORTERS: Readonly<Record<SourceType, Importer>> = {
  'claude-desktop': claudeDesktop,
  'claude-code': claudeCode,
  cursor,
  vscode,
  copilot,
  windsurf,
  cline,
  roo,
  zed,
  continue: continueDev,
  codex,
  'gemini-cli': geminiCli,
  goose,
  'lm-studio': lmStudio,
  'amazon-q': amazonQ,
  opencode,
  warp,
  kiro,
  'docker-mcp': dockerMcp,
  junie,
  air,
  'ranger-mcp-json': rangerMcpJson,
  'tools-yaml': toolsYaml,
  'ccos-overrides': ccosOverrides,
};
