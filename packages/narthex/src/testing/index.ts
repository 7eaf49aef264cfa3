export { type AutoDecision, type AutoApprover, createAutoApprover } from "./auto-approver.ts";
export { openTestKernel, type TestKernel, type TestKernelOptions } from "./open-test-kernel.ts";
export { createScriptedModel, type ScriptedModel, type ScriptedRequest } from "./scripted-model.ts";
export type { ScriptedCall, ScriptedTurn } from "./scripted-turn.ts";
export { createTestClock, type TestClock } from "./test-clock.ts";
