import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Services of the host that nobody inside may reach. */
export interface HostServices {
  readonly tcpPort: number;
  readonly udpPort: number;
  /** Another address of this host than its loopback. */
  readonly address: string;
  /** Everything that reached one of them. */
  readonly heard: readonly string[];
  /** Sends to each service from outside and waits until it was heard: they do listen. Then forgets it. */
  prove(): Promise<void>;
  close(): Promise<void>;
}

const LISTENER = fileURLToPath(new URL("./datagram-listener.py", import.meta.url));
const PROOF = `
import socket, sys
for name in sys.argv[1:]:
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"proof", "\\0" + name[1:] if name.startswith("@") else name)
`;

/** On TCP and UDP of the loopback, and as datagrams at these names, of which one with `@` is abstract. */
export async function startHostServices(names: readonly string[]): Promise<HostServices> {
  const heard: string[] = [];
  let onHeard = (): void => undefined;
  const hear = (what: string): void => {
    heard.push(what);
    onHeard();
  };
  const tcp = createServer((socket) => {
    hear("tcp");
    socket.destroy();
  });
  tcp.listen(0, "0.0.0.0");
  await once(tcp, "listening");
  const udp = createSocket("udp4");
  udp.on("message", () => hear("udp"));
  udp.bind(0, "127.0.0.1");
  await once(udp, "listening");
  const listener = spawn("/usr/bin/python3", [LISTENER, ...names], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: listener.stdout });
  await once(lines, "line");
  lines.on("line", hear);
  const [tcpPort, udpPort] = [(tcp.address() as AddressInfo).port, udp.address().port];

  return {
    tcpPort,
    udpPort,
    address: ownAddress(),
    heard,
    async prove() {
      const all = new Promise<void>((resolve) => {
        onHeard = () => heard.length === 2 + names.length && resolve();
      });
      udp.send("proof", udpPort, "127.0.0.1");
      await fetch(`http://127.0.0.1:${tcpPort}`).catch(() => undefined);
      spawn("/usr/bin/python3", ["-c", PROOF, ...names], { stdio: "inherit" });
      await all;
      onHeard = () => undefined;
      heard.length = 0;
    },
    async close() {
      tcp.close();
      udp.close();
      listener.kill("SIGKILL");
      await once(listener, "exit");
    },
  };
}

/** One that no machine has, if this one has no network. */
function ownAddress(): string {
  const found = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal);
  return found?.address ?? "192.0.2.1";
}
