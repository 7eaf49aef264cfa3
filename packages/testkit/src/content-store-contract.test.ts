import { contentStoreContract } from "./content-store-contract.ts";
import { createMemoryContentStore } from "./memory-content-store.ts";

contentStoreContract("a store in memory", () => Promise.resolve(createMemoryContentStore()));
