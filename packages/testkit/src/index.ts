export { createMemoryStore, type MemoryStore } from "./memory-store.ts";
export { createMemoryContentStore } from "./memory-content-store.ts";
export {
  createTestClock,
  createTestKernel,
  createTestRandom,
  permitAll,
  type TestClock,
  type TestKernel,
  type TestSession,
} from "./test-kernel.ts";
export { type CountingTool, createCountingTool, createWaitingTool, echoTool } from "./test-tools.ts";
export { createLedgerWrites, type WriteFacts } from "./ledger-writes.ts";
export { type StoreContractOptions, type StoreDriver, testStoreContract } from "./store-contract.ts";
export { contentStoreContract } from "./content-store-contract.ts";
