import { blake3, toHex } from "@narthex/contracts";

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;
const FITS = /^[a-z0-9_]+$/;

/**
 * Name of a server's tool in this kernel: `server__tool`. Invalid characters become `_`; a long name is truncated and
 * ends with a hash of the complete name. If two tools of a server get the same name, neither can be used.
 */
export function serverToolName(server: string, tool: string): string {
  const prefix = `${server}__`;
  const plain = FITS.test(tool) ? tool : tool.toLowerCase().replaceAll(/[^a-z0-9_]/gu, "_");
  if (prefix.length + plain.length <= MAX_LENGTH) return prefix + plain;
  const hash = toHex(blake3(Buffer.from(tool))).slice(0, HASH_LENGTH);
  return `${prefix}${plain.slice(0, MAX_LENGTH - prefix.length - HASH_LENGTH - 1)}_${hash}`;
}
