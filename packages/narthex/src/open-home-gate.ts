import { type Configuration, type OpenedGate, openGate } from "@narthex/host";

/**
 * Opens the network gate that the configuration of a home describes, with the credentials of every configured provider
 * and server.
 */
export function openHomeGate(configuration: Configuration, environment: NodeJS.ProcessEnv): Promise<OpenedGate> {
  const { network, secrets, webSearch, inference, mcpServers } = configuration;
  const remote = [...mcpServers.values()].flatMap(({ url, secrets: shown }) =>
    url === undefined ? [] : [...shown.values()].map((secret) => ({ url, secret })),
  );
  return openGate({
    settings: network,
    sources: secrets,
    providers: [...webSearch, ...inference, ...remote],
    environment,
  });
}
