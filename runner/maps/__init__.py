"""``map(function, arguments)`` on a batch system: named, kept in a folder, gone on with after any end."""
