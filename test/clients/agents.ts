import { claudeCode, claudeCodeAlwaysLoad } from './agents/claude-code.js';
import { codex } from './agents/codex.js';
import { copilot } from './agents/copilot.js';
import { geminiCli, qwenCode } from './agents/gemini-family.js';
import { opencode } from './agents/opencode.js';
import type { Client } from './client.js';

/** Clients that are agents with a model of their own; here the model is the stub. */
export const AGENTS: readonly Client[] = [
  claudeCode,
  claudeCodeAlwaysLoad,
  codex,
  copilot,
  geminiCli,
  opencode,
  qwenCode,
];
