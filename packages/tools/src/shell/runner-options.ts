import { type PlainOptions, plainOptions } from "./plain-options.ts";

/** An argument `@file` stands for the options in that file. */
const NO_RESPONSE_FILE = /^(?![@-])/;

/** Options of common JavaScript test and check runners, called by a script in `package.json`. */
const SCRIPT = plainOptions({
  flags: `-v -q --verbose --quiet --silent --run --ci --bail --runInBand --coverage --no-coverage --passWithNoTests
    --onlyChanged --watch=false --watchAll=false --no-watch --no-color --colors --noEmit --forceExit --detectOpenHandles`,
  values: `-t --testNamePattern --test-name-pattern -g --grep --testPathPattern --testPathPatterns --maxWorkers --max-warnings
    --testTimeout --test-timeout --timeout --retry --shard --reporter --project`,
  choices: { "--reporter": /^[a-z-]+$/ },
});
/** pnpm and yarn pass everything after a script's name to the script. */
const SCRIPT_AT_ONCE = { ...SCRIPT, rest: SCRIPT };
const NPM = plainOptions({
  flags: "-s --silent --if-present --workspaces -ws --include-workspace-root --no-color --color",
  values: "-w --workspace",
  rest: SCRIPT,
});

const NODE_TEST = plainOptions({
  flags: `--test --test-only --test-force-exit --experimental-test-coverage --experimental-strip-types --no-warnings
    --experimental-transform-types --experimental-vm-modules --experimental-test-module-mocks --experimental-sqlite
    --enable-source-maps --expose-gc`,
  values: `--test-name-pattern --test-skip-pattern --test-concurrency --test-timeout --test-reporter --test-isolation --test-shard
    --test-coverage-include --test-coverage-exclude --test-coverage-lines --test-coverage-branches
    --test-coverage-functions --max-old-space-size --stack-trace-limit --unhandled-rejections`,
  // Any other value is a module that is loaded.
  choices: { "--test-reporter": /^(?:spec|tap|dot|junit|lcov)$/ },
});
const TSC = plainOptions({
  flags: `--noEmit --build -b --strict --skipLibCheck --pretty --incremental --noEmitOnError --listFiles --listFilesOnly
    --showConfig --force --dry --verbose --version -v --help -h --esModuleInterop --allowJs --checkJs --noUnusedLocals
    --noUnusedParameters --noImplicitAny`,
  values: "-p --project --target -t --module -m --moduleResolution --lib --jsx --types",
  operand: NO_RESPONSE_FILE,
});
const ESLINT = plainOptions({
  flags: `--quiet --cache --no-cache --color --no-color --no-error-on-unmatched-pattern --no-warn-ignored --no-ignore --debug
    --report-unused-disable-directives --exit-on-fatal-error --pass-on-no-patterns --version -v --help -h`,
  values: "--ext --max-warnings --ignore-pattern --format -f",
  // A path would be loaded as code.
  choices: { "--format": /^[a-z-]+$/, "-f": /^[a-z-]+$/ },
});

const PYTEST = plainOptions({
  flags: `-q -v -x -s -l --quiet --verbose --exitfirst --showlocals --lf --last-failed --ff --failed-first --nf --new-first
    --sw --stepwise --collect-only --co --no-header --no-summary --strict-markers --strict-config --disable-warnings
    --disable-pytest-warnings --runxfail --setup-show --fixtures --markers --full-trace --no-cov --benchmark-disable
    --doctest-modules --version --help -h`,
  values: `-k -m -n -r -p --maxfail --tb --color --capture --durations --durations-min --deselect --ignore --ignore-glob
    --numprocesses --timeout --asyncio-mode --cov-report`,
  attached: "--cov",
  // A plugin may only be disabled, and a report only be printed.
  choices: { "-p": /^no:\w+$/, "--cov-report": /^(?:term|term-missing)(?::skip-covered)?$/ },
  joined: true,
  operand: NO_RESPONSE_FILE,
});
const UNITTEST = plainOptions({
  flags: "-v -q -f -b -c --verbose --quiet --failfast --buffer --catch --locals -h --help",
  values: "-k -s -p -t --start-directory --pattern --top-level-directory --durations",
});
const RUFF = plainOptions({
  flags: `-q -v -n -s -e --quiet --verbose --silent --no-cache --statistics --diff --check --show-files --show-settings
    --preview --no-preview --no-fix --exit-zero --isolated --force-exclude`,
  values: `--select --ignore --extend-select --extend-ignore --target-version --line-length --output-format --exclude
    --extend-exclude`,
});
const MYPY = plainOptions({
  flags: `--strict --ignore-missing-imports --no-incremental --show-error-codes --pretty --no-error-summary --no-color-output
    --check-untyped-defs --disallow-untyped-defs --no-implicit-optional --explicit-package-bases --namespace-packages
    --show-column-numbers --show-error-context --warn-unused-ignores --warn-unreachable --warn-return-any -v --verbose`,
  values: `-p --package -m --module --python-version --platform --exclude --follow-imports --disable-error-code
    --enable-error-code`,
  operand: NO_RESPONSE_FILE,
});

const LINTS = plainOptions({
  values: "-D -W -A -F --deny --warn --allow --forbid",
  pattern: /^-[DWAF][a-z][\w:-]*$/,
});
const RUST_TESTS = plainOptions({
  flags: "--nocapture --no-capture --ignored --include-ignored --exact --show-output -q --quiet --list --test --bench",
  values: "--test-threads --skip --color",
});
const CARGO = plainOptions({
  flags: `--workspace --all --all-targets --all-features --no-default-features --release -r --lib --bins --tests --benches
    --examples --doc --no-run --no-fail-fast --locked --offline --frozen -q --quiet -v -vv --verbose --keep-going --no-deps`,
  values: `-p --package --exclude --features -F --test --bin --example --bench -j --jobs --profile --color --message-format`,
  pattern: /^-j\d+$/,
  rest: RUST_TESTS,
});
/** Go accepts `-run` and `--run` alike; the second form is left to people to approve. */
const GO = plainOptions({
  flags: "-v -race -short -cover -json -x -n -a -failfast -benchmem -trimpath -fullpath",
  values: `-run -skip -count -timeout -parallel -cpu -bench -benchtime -list -tags -covermode -coverpkg -p -shuffle -vet -mod -o`,
  choices: { "-mod": /^(?:readonly|vendor)$/, "-o": /^\/dev\/null$/, "-vet": /^[a-z,]+$/ },
});
const MAKE = plainOptions({
  flags: `-k -s -B -i -n -w --keep-going --silent --quiet --always-make --ignore-errors --dry-run --just-print
    --print-directory --no-print-directory --output-sync`,
  attached: "-j --jobs -O",
  choices: { "-j": /^\d*$/, "--jobs": /^\d*$/, "-O": /^[a-z]*$/ },
  joined: true,
  operand: /^(?!-)[^=]*$/,
});
const GRADLE = plainOptions({
  flags: `--info -i --quiet -q --stacktrace -s --no-daemon --offline --rerun-tasks --continue --parallel --build-cache
    --no-build-cache --no-parallel`,
  values: "--tests --console --warning-mode -x --exclude-task --max-workers",
});
const MAVEN = plainOptions({
  flags: "-q --quiet -B --batch-mode -e --errors -o --offline -ntp --no-transfer-progress -am --also-make -fae -ff -fn",
  values: "-pl --projects -T --threads",
  pattern: /^-D(?:test=[\w.#*,+-]+|skipTests|failIfNoTests=false|surefire\.failIfNoSpecifiedTests=false)$/,
});
const DOTNET = plainOptions({
  flags: "--no-build --no-restore --nologo --list-tests -t",
  values: "-c --configuration -f --framework -v --verbosity --filter",
  operand: /^(?![@/-])/,
  // After `--` there are settings, such as where adapters are loaded from.
  rest: plainOptions({ operand: /(?!)/ }),
});

const JEST = plainOptions({
  flags: `-i -b -o -w=1 --silent --verbose --ci --bail --runInBand --coverage --no-coverage --passWithNoTests --onlyChanged
    --watch=false --watchAll=false --colors --no-color --forceExit --detectOpenHandles --listTests --showConfig --no-cache
    --onlyFailures --lastCommit --errorOnDeprecated --expand --logHeapUsage`,
  values: `-t --testNamePattern --testPathPattern --testPathPatterns --testPathIgnorePatterns --maxWorkers -w --testTimeout
    --shard --selectProjects --runTestsByPath --findRelatedTests`,
});
const VITEST = plainOptions({
  flags: `--run --silent --coverage --no-coverage --passWithNoTests --no-color --bail --typecheck --no-isolate --no-file-parallelism
    --reporter=verbose --reporter=dot --reporter=default --reporter=json --hideSkippedTests --allowOnly`,
  values: "-t --testNamePattern --testTimeout --retry --shard --project --maxWorkers --minWorkers --bail",
});
const PRETTIER = plainOptions({
  flags: "-c --check -l --list-different -u --ignore-unknown --no-color --no-config --no-editorconfig",
  values: "--log-level --parser",
  choices: { "--parser": /^[a-z-]+$/ },
});
const BIOME = plainOptions({
  flags: "--verbose --no-errors-on-unmatched --error-on-warnings --changed --staged --skip-errors --use-server=false",
  values: "--max-diagnostics --diagnostic-level --colors --since --only --skip --reporter",
});
const DENO = plainOptions({
  flags: `-A --allow-all --allow-read --allow-write --allow-net --allow-env --allow-run --allow-sys --allow-ffi --no-check --check
    --quiet -q --fail-fast --parallel --doc --no-run --frozen --cached-only --no-prompt --all`,
  values: "--filter --shuffle --trace-leaks",
});
const FLAKE8 = plainOptions({
  flags: "-v -q --verbose --quiet --count --show-source --statistics --exit-zero --benchmark",
  values: `--select --ignore --extend-select --extend-ignore --max-line-length --max-complexity --exclude --extend-exclude
    --format --color`,
  choices: { "--format": /^(?:default|pylint)$/ },
});
const PYRIGHT = plainOptions({
  flags: "--outputjson --stats --warnings --skipunannotated --dependencies --verbose",
  values: "--level --pythonversion --pythonplatform",
  operand: NO_RESPONSE_FILE,
});
const GOFMT = plainOptions({ flags: "-l -d -s -e" });
const CMAKE_BUILD = plainOptions({
  flags: "-v --verbose --clean-first --parallel -j",
  values: "--config --target -t -j --parallel",
  choices: { "--target": /^(?:all|test|check|build)$/, "-t": /^(?:all|test|check|build)$/ },
  pattern: /^-j\d+$/,
  // After `--` there are arguments of the build program, such as variables of make.
  rest: plainOptions({ operand: /(?!)/ }),
});
const CTEST = plainOptions({
  flags: `-V -VV -Q -N --verbose --extra-verbose --quiet --output-on-failure --stop-on-failure --rerun-failed --progress
    --schedule-random`,
  values: "-R -E -L -LE -I -j --parallel --timeout --tests-regex --exclude-regex --label-regex --repeat --test-dir",
  pattern: /^-j\d+$/,
});
const MIX_TEST = plainOptions({
  flags: "--trace --stale --failed --cover --color --no-color --force --slowest --warnings-as-errors --no-deps-check",
  values: "--only --exclude --include --seed --max-failures --max-cases --timeout --partitions",
});
const RSPEC = plainOptions({
  flags:
    "--fail-fast --no-fail-fast --color --no-color --only-failures --next-failure --dry-run -b --backtrace -w --warnings",
  values: "-e --example -t --tag -f --format --seed --order -P --pattern",
  choices: { "-f": /^(?:progress|documentation|json|p|d|j)$/, "--format": /^(?:progress|documentation|json|p|d|j)$/ },
});
const PHPUNIT = plainOptions({
  flags: `--testdox --verbose --debug --colors --stop-on-failure --stop-on-error --no-coverage --list-tests --list-suites
    --fail-on-warning --fail-on-risky --no-progress`,
  values: "--filter --testsuite --group --exclude-group --order-by",
});
const SWIFT = plainOptions({
  flags:
    "-v --verbose -q --quiet --parallel --no-parallel --skip-build --enable-code-coverage --build-tests --list-tests",
  values: "-c --configuration --filter --skip --product --target -j --jobs --num-workers",
});
const CARGO_FMT = plainOptions({
  flags: "--all --check -q --quiet -v --verbose",
  values: "-p --package",
  rest: plainOptions({ flags: "--check -l", values: "--color" }),
});

/** Options by the program's name and the leading words that select its use. */
export const RUNNER_OPTIONS: ReadonlyMap<string, PlainOptions> = new Map([
  ["node --test", NODE_TEST],
  ["tsc", TSC],
  ["eslint", ESLINT],
  ...["npm test", "npm run"].map((use): [string, PlainOptions] => [use, NPM]),
  ...["pnpm", "yarn"].flatMap((name) =>
    ["test", "run", "build", "lint", "check", "typecheck"].map((use): [string, PlainOptions] => [
      `${name} ${use}`,
      SCRIPT_AT_ONCE,
    ]),
  ),
  ["bun test", SCRIPT],
  ["bun run", SCRIPT_AT_ONCE],
  ...["deno test", "deno check", "deno lint"].map((use): [string, PlainOptions] => [use, DENO]),
  ["jest", JEST],
  ["vitest run", VITEST],
  ["mocha", SCRIPT],
  ["prettier", PRETTIER],
  ...["biome check", "biome lint", "biome ci", "biome format"].map((use): [string, PlainOptions] => [use, BIOME]),
  ["pytest", PYTEST],
  ["unittest", UNITTEST],
  ["ruff check", RUFF],
  ["ruff format", RUFF],
  ["mypy", MYPY],
  ["flake8", FLAKE8],
  ["pyright", PYRIGHT],
  ["cargo fmt", CARGO_FMT],
  ...["cargo test", "cargo build", "cargo check", "cargo doc"].map((use): [string, PlainOptions] => [use, CARGO]),
  ["cargo clippy", { ...CARGO, rest: LINTS }],
  ...["go test", "go build", "go vet"].map((use): [string, PlainOptions] => [use, GO]),
  ["make", MAKE],
  ["gmake", MAKE],
  ["gofmt", GOFMT],
  ["gradle", GRADLE],
  ["gradlew", GRADLE],
  ["mvn", MAVEN],
  ["mvnw", MAVEN],
  ...["dotnet test", "dotnet build"].map((use): [string, PlainOptions] => [use, DOTNET]),
  ["cmake --build", CMAKE_BUILD],
  ["ctest", CTEST],
  ["mix test", MIX_TEST],
  ["rspec", RSPEC],
  ["phpunit", PHPUNIT],
  ["swift build", SWIFT],
  ["swift test", SWIFT],
]);
