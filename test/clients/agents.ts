import { claudeCode, claudeCodeAlwaysLoad } from './agents/claude-code.js';
import { cline } from './agents/cline.js';
import { codex } from './agents/codex.js';
import { continueCli } from './agents/continue.js';
import { copilot } from './agents/copilot.js';
import { droid } from './agents/droid.js';
import { geminiCli, qwenCode } from './agents/gemini-family.js';
import { opencode } from './agents/opencode.js';
import type { Client } from './client.js';

/** Clients that are agents with a model of their own; here the model is the stub. */
export const AGENTS: readonly Client[] = [
  claudeCode,
  claudeCodeAlwaysLoad,
  cline,
  codex,
  continueCli,
  copilot,
  droid,
  geminiCli,
  opencode,
  qwenCode,
];
