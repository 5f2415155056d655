/// The style sheet of a page. Light or dark, as the reader's system is.
enum PageStyle {
  /// The style sheet.
  static let text = """
    :root { color-scheme: light dark; --ink: #1c1e21; --soft: #63676d; --line: #d9dbde; --ground: #fdfdfc; --ours: #0b6bcb;
      --ours2: #b1400f; --ours3: #1b7f3b; --other: #9a9fa6; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e8e8e6; --soft: #a2a6ab; --line: #3a3e44; --ground: #17191c;
      --ours: #5aa9f5; --ours2: #f09a6b; --ours3: #6fcf8c; --other: #7d838b; } }
    body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 68rem;
      margin: 2rem auto; padding: 0 1rem; }
    h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; } .note, figcaption { color: var(--soft); }
    .wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
    th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
    th { color: var(--soft); font-weight: 500; } th:first-child, td:first-child { text-align: left; padding-left: 0; }
    .text { text-align: left; white-space: normal; } h3 { font-size: 1rem; margin-top: 1.5rem; }
    .ours td { font-weight: 600; } .charts { display: flex; flex-wrap: wrap; gap: 1.5rem; margin-top: 1.5rem; }
    figure { margin: 0; flex: 1 1 28rem; min-width: 0; max-width: 34rem; } figcaption { font-size: .85rem; margin-bottom: .3rem; }
    svg { width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 12px; }
    svg .soft { fill: var(--soft); } svg .axis { stroke: var(--line); } svg .mark { stroke: var(--ink); stroke-width: 2; }
    svg .o0 { --c: var(--ours); } svg .o1 { --c: var(--ours2); } svg .o2 { --c: var(--ours3); } svg .b { --c: var(--other); }
    svg rect { fill: var(--c); } svg .look { fill: var(--line); } svg polyline { fill: none; stroke: var(--c); stroke-width: 2.4; }
    svg .b polyline { stroke-width: 1.4; } svg .d1 polyline { stroke-dasharray: 6 3; } svg .d2 polyline { stroke-dasharray: 2 3; }
    svg .d3 polyline { stroke-dasharray: 8 3 2 3; } svg .d4 polyline { stroke-dasharray: 1 5; }
    """
}
