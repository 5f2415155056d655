/// The form in which a chunk of `rouse.state` holds a device (`ChunkLog`).
///
///     whole      slot · head · names and tokens · numbers · events · every instance with its interest keys · habits
///     addition   slot · number of the chunk with the version · head · numbers · events · each changed instance · habits
///
/// An addition has what decisions change: ledgers, demand, what screens show, what waits. It replaces that of the device, and of
/// the instances that it has, so it may be read again. Everything else changes only by a registration, or when an
/// instance goes; then the device is written whole.
enum DeviceForm { case whole, addition }
