import { KernelError } from "@narthex/contracts";
import type { ContentStore } from "../ports.ts";
import type { KnownSecrets } from "./known-secrets.ts";
import { createSecretDetector } from "./secret-detector.ts";

/**
 * Wraps a content store so that it accepts no secret.
 *
 * SECURITY: the last line of defense. Callers redact secrets in content, or store its hash only; content that still
 * contains one is rejected.
 */
export function guardContent(files: ContentStore, secrets: KnownSecrets): ContentStore {
  return {
    async openWriter() {
      const writer = await files.openWriter();
      const watch = createSecretDetector(secrets.all);
      if (watch === undefined) return writer;
      return {
        async write(chunk) {
          if (watch.detects(chunk)) throw refused();
          await writer.write(chunk);
        },
        commit: () => writer.commit(),
        abort: () => writer.abort(),
      };
    },
    stat: (digest) => files.stat(digest),
    read: (digest, offset, limit) => files.read(digest, offset, limit),
    remove: (digest) => files.remove(digest),
  };
}

function refused(): KernelError {
  return new KernelError("INTERNAL", "content with a secret in it was about to be stored; nothing of it was");
}
