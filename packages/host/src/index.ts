export { openSqliteStore, type SqliteStoreOptions } from "./store/sqlite-store.ts";
