export interface TestCounts {
  readonly tests: number;
  readonly suites: number;
  readonly passed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly skipped: number;
  readonly todo: number;
}

export const NO_TESTS: TestCounts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };

export function addCounts(left: TestCounts, right: TestCounts): TestCounts {
  return {
    tests: left.tests + right.tests,
    suites: left.suites + right.suites,
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    cancelled: left.cancelled + right.cancelled,
    skipped: left.skipped + right.skipped,
    todo: left.todo + right.todo,
  };
}
