/** Takes spans over HTTP and forgets them: prints its port, then serves. */
import { createServer } from "node:http";

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => response.setHeader("content-type", "application/x-protobuf").end());
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" ? address?.port : address);
});
