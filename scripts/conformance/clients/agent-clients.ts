import type { AgentClient } from "./agent-client.ts";
import { claude } from "./agents/claude.ts";
import { codex } from "./agents/codex.ts";
import { gemini } from "./agents/gemini.ts";
import { opencode } from "./agents/opencode.ts";
import { qwen } from "./agents/qwen.ts";

export const AGENT_CLIENTS: readonly AgentClient[] = [claude, codex, opencode, gemini, qwen];
