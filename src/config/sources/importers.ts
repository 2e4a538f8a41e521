import type { SourceType } from '../../model/config.js';
import { air } from './air.js';
import { amazonQ } from './amazon-q.js';
import { ccosOverrides } from './ccos-overrides.js';
import { claudeCode } from './claude-code.js';
import { claudeDesktop } from './claude-desktop.js';
import { cline } from './cline.js';
import { codex } from './codex.js';
import { continueDev } from './continue.js';
import { copilot } from './copilot.js';
import { cursor } from './cursor.js';
import { dockerMcp } from './docker-mcp.js';
import { geminiCli } from './gemini-cli.js';
import { goose } from './goose.js';
import type { Importer } from './importer.js';
import { junie } from './junie.js';
import { kiro } from './kiro.js';
import { lmStudio } from './lm-studio.js';
import { opencode } from './opencode.js';
import { rangerMcpJson } from './ranger-mcp-json.js';
import { roo } from './roo.js';
import { toolsYaml } from './tools-yaml.js';
import { vscode } from './vscode.js';
import { warp } from './warp.js';
import { windsurf } from './windsurf.js';
import { zed } from './zed.js';

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
