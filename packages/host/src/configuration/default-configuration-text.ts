import { DEFAULT_SECRET_PATHS } from "../files/secret-paths.ts";
import { DEFAULT_NAMES } from "../trusted-paths/protected-names.ts";

/** The file that `init` writes: every key with an explanation and its default. */
export const DEFAULT_CONFIGURATION_TEXT = `# Configuration of this kernel. Every key is optional; those below have their default values.
# The kernel reads this file when it starts. Unknown keys are errors, so that a typing mistake is never silent.
# Times are in milliseconds, sizes in bytes.

# Where \`narthex serve\` offers its services: loopback only (127.0.0.1, [::1] or localhost); port 0 takes a free one.
listen: 127.0.0.1:7411

session:
  # How long a session lives: eight hours.
  ttl_ms: 28800000
  # What a command does where narthex itself is installed in a session's workspace: refuse or allow.
  own_code: refuse
  # A session that tries to leave its containment so often within so long is locked.
  quarantine:
    violations: 5
    window_ms: 60000

# What one session may spend unless its lease says otherwise. What is not listed is unlimited; 0 is nothing.
# Replace the braces by lines such as these:
#   calls: 10000
#   cost_units: 10000
#   inference_tokens: 1000000
#   wall_ms: 3600000
#   cpu_ms: 3600000
#   network_bytes: 1073741824
#   stored_bytes: 5368709120
budgets: {}

# What agents may take of the disks; docs/disk-space.md says more. Directories are looked at four times a second
# while a program runs, so that for a moment they can hold more.
storage:
  # Content that one session stores, with all that are split off it: 2 GB.
  session_bytes: 2147483648
  # The scratch directory of one session: 4 GB.
  scratch_bytes: 4294967296
  # The home that programs of one workspace have, 2 GB: it is shrunk to this, and a program that doubles it is ended.
  cache_bytes: 2147483648
  # What one call may add to its workspace: 10 GB.
  growth_bytes: 10737418240
  # What stays free on each disk, the smaller of 1 GB and 5 %. Below it programs and writes are refused; the ledger goes on.
  reserve_bytes: 1073741824
  reserve_percent: 5

timeouts:
  # A person has so long to answer a question; then the call is denied.
  approval_ms: 600000
  # A call that waits longer for a person answers APPROVAL_PENDING; the same call again goes on waiting.
  approval_wait_ms: 45000
  # When the kernel is told to stop, calls that run have so long to finish.
  shutdown_ms: 10000
  # A kernel that \`narthex mcp\` started ends so long after its last client has left.
  idle_ms: 60000

# A kernel that serves signs a checkpoint of its ledger after so many new records, or after so long if there are any,
# and when it stops. A person who keeps a checkpoint can later be shown that nothing before it was changed.
checkpoints:
  every_records: 1000
  every_ms: 60000

# How long content is kept that no artifact and no open session needs; docs/guides/retention.md says more. Records stay.
retention:
  # After its session ended: 14 days.
  max_age_ms: 1209600000
  # What sessions that have ended may keep in all, 5 GB; beyond it, the oldest goes first.
  max_bytes: 5368709120
  # How often a kernel that runs looks for it; 0 is never.
  every_ms: 600000

# Secrets by name, read when the kernel starts. A tool that was added with a secret finds it in a variable, and it is
# hidden in everything that the tool returns. In place of the braces, write lines such as these:
#   weather_key: { env: WEATHER_API_KEY }
#   mail_password: { file: /run/secrets/mail }
#   deploy_token: { command: [pass, show, deploy] }
secrets: {}

policy:
  # enforce: calls that rules refuse are denied. observe: decisions are made and recorded, but refused calls go on, and no
  # approval is requested; errors of the policy and protected paths still deny. For a first week with an agent.
  mode: enforce

# Paths that agents change only if a rule for \`write_protected\` in the policy permits it, in every directory of a
# workspace. \`default\` stands for the names that come with this version: configuration that other programs run or trust
# without being asked, and credentials. \`*\` stands for any part of one name. Where the list has \`.git\`, as the default
# has, the files that git's configuration names are protected, too.
protected_paths:
  - ${DEFAULT_NAMES}

# Files that usually hold credentials, in every directory of a workspace: a session that reads one carries the label
# \`secret\` from then on.
secret_paths:
${DEFAULT_SECRET_PATHS.map((path) => `  - ${path}`).join("\n")}

# A directory of secrets, as an absolute path outside every workspace. Only \`vault_copyto\` reads it, each time after a
# person approved it; no other tool sees it. Empty: there is no vault.
vault: ""

limits:
  # Requests and answers held at once, over all doors: 256 MB.
  max_in_flight_bytes: 268435456
  # Connections of one door at once.
  max_connections: 1024

shell:
  # How shell commands are run. sandbox: each in a fresh sandbox. session: in one sandboxed shell per session, which keeps
  # its directory, variables and functions. disabled: not at all. host: bare on this machine, contained by nothing, for
  # development only; everything it makes is labelled \`host\`.
  backend: sandbox

mcp:
  # never: people answer approvals elsewhere. approvals: an MCP client that can ask its user is asked too. The agent itself may
  # answer there, so allow it only for clients that show such questions to a person. Rules that demand the
  # console (@approve("console")) are never answered there.
  elicitation: never
  # coding: the list of tools leaves out read_file, echo, hash, artifact_get and artifact_publish, so that it takes less of
  # a model's context; they can be called all the same. all: every tool that the session may call is listed.
  tools: coding

# MCP servers whose tools sessions can be given: programs in a sandbox without network that find only the files named
# here, or servers by HTTP; docs/guides/mcp-servers.md says more. In place of the braces, write servers such as these:
#   notes: { command: [node, /srv/notes/server.js], files: [/srv/notes], workspace: read }
#   board: { url: "https://mcp.board.example/mcp", secret: board_token }
mcp_servers: {}

# How requests leave this machine; docs/guides/network.md says more. Nothing leaves it without a lease that names hosts.
# hosts: what sessions may ask which are opened without rights of their own; "*" is every public host. Rules still decide
# on each, and the default ones ask a person. dns: servers to ask instead of the system's. authorities: files of
# certificates that are trusted besides. secrets: to which hosts each may be sent. credentials: what git shows a host, as
# a password; neither it nor an agent sees it. In place of the braces, write lines such as these:
#   dns: [9.9.9.9, "[2620:fe::fe]:53"]
#   authorities: [/etc/ssl/private-authority.pem]
#   hosts: [registry.example, "*.docs.example"]
#   secrets: { forge_token: [api.forge.example] }
#   credentials: [{ host: forge.example, secret: forge_token, user: agent }]
network: {}

# Where web_search looks. In place of the braces, write providers such as these; the first is asked where none is named:
#   own: { kind: searxng, url: "https://search.example" }
#   brave: { kind: brave, url: "https://api.search.brave.com", secret: brave_key }
web_search: {}

# Providers of models, with prices in cost units for a million tokens. In place of the braces, write providers such
# as these:
#   local: { format: openai, url: "http://127.0.0.1:11434/v1" }
#   claude: { format: anthropic, url: "https://api.anthropic.com", secret: claude_key, input_price: 3, output_price: 15 }
inference: {}

# How much of a result a model is shown; it pages through the rest with \`result_read\`.
view_bytes: 16384
`;
