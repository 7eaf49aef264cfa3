import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import { findTools, isEndpoint } from "@narthex/host";
import { createHttpTool } from "@narthex/tools";
import { createTestHome, objectsOf, type TestHome } from "../cli/home.ts";
import {
  createNetworkKernel,
  type NetworkKernel,
  type NetworkSession,
  startServer,
  type TestServer,
} from "./network-kernel.ts";

const KEY = "key-of-the-pet-store";
process.env["TEST_PET_KEY"] = KEY;

const json = (schema: JsonObject): JsonObject => ({ content: { "application/json": { schema } } });
const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** A description as stores of pets have them, of version 3.0. */
function petStore(url: string, more: JsonObject = {}): JsonObject {
  return {
    openapi: "3.0.3",
    info: { title: "Pets", version: "2.1.0" },
    servers: [{ url }],
    paths: {
      "/pets": {
        get: {
          operationId: "listPets",
          summary: "Lists pets.",
          parameters: [
            { name: "tags", in: "query", schema: { type: "array", items: { type: "string" } } },
            { $ref: "#/components/parameters/limit" },
            { name: "X-Trace", in: "header", schema: { type: "string" } },
          ],
          responses: { 200: json({ type: "array", items: ref("Pet") }) },
        },
        post: { operationId: "createPet", requestBody: { required: true, ...json(ref("Pet")) }, responses: {} },
      },
      "/pets/{petId}": {
        parameters: [{ name: "petId", in: "path", required: true, schema: { type: "string" } }],
        get: { operationId: "getPet", responses: {} },
        delete: { operationId: "deletePet", responses: { 204: { description: "gone" } } },
      },
      ...more,
    },
    components: {
      parameters: { limit: { name: "limit", in: "query", schema: { type: "integer", maximum: 100, example: 10 } } },
      schemas: {
        Pet: {
          type: "object",
          required: ["name"],
          additionalProperties: false,
          properties: {
            name: { type: "string", example: "Rex" },
            nick: { type: "string", nullable: true },
            weight: { type: "number", minimum: 0, exclusiveMinimum: true },
            parent: ref("Pet"),
          },
        },
      },
    },
  };
}

describe("operations of an OpenAPI description", { timeout: 180_000 }, () => {
  let home: TestHome;
  let at: NetworkKernel;
  let server: TestServer;
  let session: NetworkSession;
  let added: JsonObject;
  const bodies: string[] = [];
  const used = new AsyncDisposableStack();

  async function add(files: Readonly<Record<string, JsonValue>>, exit = 0): Promise<JsonObject> {
    const folder = join(home.root, "apis", Object.keys(files).join("-"));
    await mkdir(folder, { recursive: true });
    for (const [name, value] of Object.entries(files)) await writeFile(join(folder, name), JSON.stringify(value));
    const [first = ""] = Object.keys(files);
    return await home.ask(["tools", "add", join(folder, first), "--allow"], exit);
  }

  /** What the command would say. */
  async function problemsOf(document: JsonObject): Promise<string> {
    const file = join(home.root, "odd.json");
    await writeFile(file, JSON.stringify(document));
    try {
      const { tools } = await findTools(file);
      for (const tool of tools) if (isEndpoint(tool)) createHttpTool(tool.declaration, tool.pin);
      return "none";
    } catch (fault) {
      return fault instanceof KernelError ? JSON.stringify([fault.message, fault.violations]) : String(fault);
    }
  }

  before(async () => {
    server = used.use(
      await startServer((request, response) => {
        void text(request).then((body) => {
          bodies.push(body);
          if (request.method === "DELETE") return void response.writeHead(204).end();
          response.setHeader("content-type", "application/json");
          response.end(JSON.stringify({ asked: `${request.method} ${request.url}` }));
        });
      }),
    );
    home = await createTestHome();
    used.defer(() => home.remove());
    await mkdir(home.home, { mode: 0o700 });
    await writeFile(
      join(home.home, "narthex.yaml"),
      `secrets: { pet_key: { env: TEST_PET_KEY } }\nnetwork: { secrets: { pet_key: ["${server.place}"] } }\n`,
    );
    added = await add({ "openapi.json": petStore(`http://${server.place}/v1/`) });
    await add({
      "keyed.json": {
        openapi: "./api.json",
        url: `http://${server.place}/v2`,
        operations: ["getPet"],
        name_prefix: "keyed_",
        secret: "pet_key",
        header: "x-api-key",
        prefix: "",
      },
      "api.json": petStore("/only/relative"),
    });
    at = used.use(await createNetworkKernel({ data: home.home }));
    session = await at.open({ sends: [server.place] });
  });
  after(() => used.disposeAsync());

  it("are added as tools with the effects of an MCP server's", () => {
    const tools = objectsOf(added["tools"]);
    assert.deepEqual(
      tools.map(({ tool }) => tool),
      ["list_pets@2.1.0", "create_pet@2.1.0", "get_pet@2.1.0", "delete_pet@2.1.0"],
    );
    for (const { effects, tier, determinism, source } of tools) {
      assert.deepEqual([effects, tier, determinism, source], [["net_write"], "side_effecting", "external", "http"]);
    }
  });

  it("are requested as described: path, query, headers and body, with their key", async () => {
    const listed = await session.session.call("list_pets", { tags: ["a b", "c&d"], limit: 2, "X-Trace": "t" });
    assert.deepEqual(
      [listed.raw, listed.metadata.labels],
      [{ asked: "GET /v1/pets?tags=a+b&tags=c%26d&limit=2" }, ["untrusted"]],
    );
    assert.equal(server.requests.at(-1)?.headers["x-trace"], "t");
    const pet = { name: "Rex", nick: null, weight: 0.5, parent: { name: "Max" } };
    assert.equal((await session.session.call("create_pet", { body: pet })).status, "success");
    assert.deepEqual(JSON.parse(bodies.at(-1) ?? ""), pet);
    assert.match(String(server.requests.at(-1)?.headers["idempotency-key"]), /^[0-9a-f]{64}$/);
    assert.equal((await session.session.call("delete_pet", { petId: "7" })).raw, null);
    assert.deepEqual((await session.session.call("keyed_get_pet", { petId: "7" })).raw, { asked: "GET /v2/pets/7" });
    assert.equal(server.requests.at(-1)?.headers["x-api-key"], KEY);
    const [first] = await session.egress();
    assert.equal(first, `GET ${server.place} loopback 200`);
  });

  it("accept only input that fits their schemas, including named schemas", async () => {
    const count = server.requests.length;
    for (const [tool, input] of [
      ["list_pets", { limit: 101 }],
      ["list_pets", { other: 1 }],
      ["create_pet", {}],
      ["create_pet", { body: { name: "Rex", weight: 0 } }],
      ["create_pet", { body: { name: "Rex", parent: { nick: "x" } } }],
      ["get_pet", {}],
    ] as const) {
      assert.equal((await session.refused(tool, input)).code, "INVALID_INPUT", JSON.stringify(input));
    }
    assert.equal(server.requests.length, count);
  });

  it("keep their address, whatever a value contains", async () => {
    for (const petId of ["..", ".", ""]) {
      assert.equal((await session.refused("delete_pet", { petId })).code, "INVALID_INPUT", petId);
    }
    for (const [petId, path] of [
      ["../../admin", "/v1/pets/..%2F..%2Fadmin"],
      ["7?all=1#x", "/v1/pets/7%3Fall%3D1%23x"],
      ["%2e%2e", "/v1/pets/%252e%252e"],
      ["a\\b", "/v1/pets/a%5Cb"],
    ] as const) {
      assert.deepEqual((await session.session.call("get_pet", { petId })).raw, { asked: `GET ${path}` });
    }
    const { code } = await session.refused("list_pets", { "X-Trace": "a\r\nauthorization: x" });
    assert.equal(code, "INVALID_INPUT");
  });

  it("are rejected with every problem if they cannot be called, without any request", async () => {
    const url = `http://${server.place}/v1`;
    const one = (operation: JsonObject): JsonObject =>
      petStore(url, { "/odd": { get: { operationId: "odd", responses: {}, ...operation } } });
    const parameter = (name: string, place: string, schema: JsonObject = {}): JsonObject => ({
      parameters: [{ name, in: place, schema }],
    });
    const count = server.requests.length;
    for (const [document, problem] of [
      [one(parameter("session", "cookie")), /cannot be sent: `session` in cookie/],
      [one(parameter("a", "query", { $ref: `${url}/schema.json` })), /is not in components\/schemas/],
      [one(parameter("a", "query", { $ref: "#/components/schemas/Nobody" })), /is not in components\/schemas/],
      [one(parameter("Authorization", "header")), /not an input's to set/],
      [one(parameter("Host", "header")), /host/],
      [one({ operationId: "list-pets" }), /two operations would be called `list_pets`/],
      [one({ requestBody: { content: { "text/csv": {} } } }), /a body that is not JSON/],
      [petStore("/relative"), /names no server with an absolute URL/],
      [petStore("file:///etc"), /names no server with an absolute URL/],
      [petStore(url, { "/../up": { get: { operationId: "up" } } }), /no path that everybody reads alike/],
      [{ openapi: "3.0.3", info: {}, paths: {} }, /has no operation to add/],
    ] as const) {
      assert.match(await problemsOf(document), problem);
    }
    assert.match(
      JSON.stringify(await add({ "bad.json": petStore("/relative") }, 1)),
      /names no server/,
      "by the command",
    );
    assert.equal(server.requests.length, count);
  });
});
