export { dbQuery } from "./db-query.ts";
