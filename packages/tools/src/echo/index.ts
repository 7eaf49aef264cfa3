export { echo } from "./echo.ts";
