import { fileURLToPath } from "node:url";

/** Directory of this package: above `src` in a checkout, above the flat `dist` where it is installed. */
export const PACKAGE_DIRECTORY: string = fileURLToPath(new URL("..", import.meta.url));
