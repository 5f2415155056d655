/// The built-in profiles as documents. A figure that its platform does not publish says so in its source.
enum ProfileTexts {
  static let all = [apple2026, appleConservative, harmonyCards]

  private static let apple2026 = """
    name: apple-2026
    instanceReloads:
      limit: 48
      minInterval: 15m
      source: Apple, "Keeping a widget up to date" and WWDC21-10048; 40 to 70 a day, every 15 to 60 minutes, per widget
      confidence: high
    devicePushes:
      limit: 5
      window: 1h
      burst: 3
      source: Apple publishes no figure; about 5 an hour circulates in the community (pushward.app/docs/limits)
      confidence: low
    backgroundPushes:
      limit: 2
      window: 1h
      burst: 1
      source: Apple, "Pushing background updates to your App"; two or three an hour
      confidence: high
    controlPushes:
      limit: 12
      window: 1h
      burst: 4
      source: Apple publishes no figure ("Updating controls locally and remotely"); a prior of this project
      confidence: inference
    activityPushes:
      limit: 10
      window: 1h
      burst: 3
      source: Apple publishes no figure for priority 10; 10 to 15 an hour circulate (pushward.app/docs/limits), and a factor of 3 for frequent updates is a guess
      confidence: low
    frequentPushesFactor: 3
    activityStarts:
      limit: 10
      window: 24h
      burst: 3
      source: Apple staff in forum thread 799505; about 10 in a short time, whose length is not given, counted as a day here
      confidence: medium
    payload:
      limit: 4096
      broadcastLimit: 5120
      source: Apple, "Sending notification requests to APNs" and "Sending broadcast push notification requests to APNs"; bytes, uncompressed
      confidence: high
    payloadBands:
      safe: 2048
      watch: 3072
      risky: 3584
      source: Apple states the limit alone; a house rule of this project, so that a payload is heard of before it is refused
      confidence: inference
    """

  private static let appleConservative = """
    name: apple-conservative
    instanceReloads:
      limit: 40
      minInterval: 20m
      source: Apple, "Keeping a widget up to date"; the lower end of 40 to 70 a day
      confidence: high
    devicePushes:
      limit: 3
      window: 1h
      burst: 2
      source: below the community figure of about 5 an hour (pushward.app/docs/limits)
      confidence: low
    backgroundPushes:
      limit: 1
      window: 1h
      burst: 1
      source: half of what "Pushing background updates to your App" advises
      confidence: inference
    controlPushes:
      limit: 6
      window: 1h
      burst: 2
      source: half of the prior of apple-2026; Apple publishes no figure
      confidence: inference
    activityPushes:
      limit: 6
      window: 1h
      burst: 2
      source: below the 10 to 15 an hour that circulate (pushward.app/docs/limits), and a smaller guess for frequent updates
      confidence: low
    frequentPushesFactor: 2
    activityStarts:
      limit: 5
      window: 24h
      burst: 2
      source: half of what Apple staff names in forum thread 799505
      confidence: inference
    payload:
      limit: 4096
      broadcastLimit: 5120
      source: Apple, "Sending notification requests to APNs" and "Sending broadcast push notification requests to APNs"; bytes, uncompressed
      confidence: high
    payloadBands:
      safe: 2048
      watch: 3072
      risky: 3584
      source: Apple states the limit alone; a house rule of this project, so that a payload is heard of before it is refused
      confidence: inference
    """

  // What the types cannot hold: the other categories (50 cards a day for social, lifestyle and tools, 150 for car and
  // finance, 30 for video, 5 for the rest) are set by `limits.instanceReloads`. A live window has two limits at once, 10
  // in 5 minutes and 60 in an hour; one GCRA of 55 an hour with burst 6 stays within both: at most 6 + ⌈4.58⌉ − 1 = 10
  // and 6 + 55 − 1 = 60. Ride-hailing and sports have 30 and 180: `limits.activityPushes: { limit: 165, burst: 16 }`.
  private static let harmonyCards = """
    name: harmonyos-cards
    instanceReloads:
      limit: 200
      minInterval: 0s
      source: Huawei, push-form-update and push-msg-freq-control; 200 pushes a day to one card of a travel or navigation app, no interval stated
      confidence: high
    devicePushes:
      limit: unlimited
      window: 1h
      burst: 1
      source: a HarmonyOS push names one card and is counted there; receipt 102 tells of a device's limit, no figure was found
      confidence: inference
    backgroundPushes:
      limit: 2
      window: 1h
      burst: 1
      source: no figure was found; as on Apple's platforms
      confidence: inference
    controlPushes:
      limit: unlimited
      window: 1h
      burst: 1
      source: HarmonyOS has no controls, so there is nothing to limit
      confidence: inference
    activityPushes:
      limit: 55
      window: 1h
      burst: 6
      source: Huawei, push-msg-freq-control; a live window takes 10 updates in 5 minutes and 60 in an hour, and this rate keeps both
      confidence: high
    frequentPushesFactor: 1
    activityStarts:
      limit: 10
      window: 24h
      burst: 3
      source: no figure was found; as on Apple's platforms
      confidence: inference
    payload:
      limit: 4096
      broadcastLimit: 5120
      source: no figure was found; as on Apple's platforms
      confidence: inference
    payloadBands:
      safe: 2048
      watch: 3072
      risky: 3584
      source: a house rule of this project, so that a payload is heard of before it is refused
      confidence: inference
    """
}
