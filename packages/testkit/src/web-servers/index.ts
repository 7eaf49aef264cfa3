export { type BraveServer, startBraveServer } from "./brave-server.ts";
export { type LoopbackServer, type ReceivedRequest, startLoopbackServer } from "./loopback-server.ts";
export { type SearxngServer, startSearxngServer } from "./searxng-server.ts";
