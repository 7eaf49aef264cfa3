export { contentStoreContract } from "./content-store-contract.ts";
export {
  type LedgerStoreContractOptions,
  type LedgerStoreDriver,
  testLedgerStoreContract,
} from "./ledger-store-contract.ts";
export { createLedgerWrites, type WriteFacts } from "./ledger-writes.ts";
export { createMemoryContentStore } from "./memory-content-store.ts";
export { createMemoryStore, type MemoryStore } from "./memory-store.ts";
export * from "./model-servers/index.ts";
export { type StoreContractOptions, type StoreDriver, testStoreContract } from "./store-contract.ts";
export {
  createTestClock,
  createTestKernel,
  createTestRandom,
  type TestClock,
  type TestKernel,
  type TestSession,
} from "./test-kernel.ts";
export { createTestPolicy, permitAll, type TestRule } from "./test-policy.ts";
export { type CountingTool, createCountingTool, createWaitingTool, echoTool } from "./test-tools.ts";
export * from "./web-servers/index.ts";
export { type FilesUnderTest, testWorkspaceFilesContract } from "./workspace-files-contract.ts";
