"""What `loquat doctor` looks at: this machine, this installation, and what is wrong with them. No Qt is imported."""
