"""Operations that wait, and run as one program."""
