import Testing

@Suite(
  "Chart",
  .enabled(
    if: Tool.hasPackage("helm_python") && Tool.hasPackage("kubernetes_validate"),
    "needs the Python packages helm-python-sdk and kubernetes-validate in .build/tools"))
struct ChartTests {
  // The script says what it checks.
  @Test("what the chart makes of several values is valid, safe, and taken by the program")
  func rendered() throws {
    let script = "Tests/DeployTests/check-chart.py"
    let result = try Tool.run(["python3", script, "deploy/chart", Tool.rouse])
    #expect(result.status == 0, "\(result.words)")
  }
}
